# A real terminal of 80 columns around a program: answers its questions, and prints what was on the screen.
# terminal.py ANSWERS PROGRAM ARGUMENT..., where ANSWERS is JSON: [[text to wait for, keys to press], ...].
# Ends with the program's exit code, or with 99 and the questions that never came. Needs Python's own modules only.

import fcntl, json, os, pty, re, select, struct, sys, termios, time

answers = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))

fresh = ""
deadline = time.monotonic() + 60
while time.monotonic() < deadline:
    if not select.select([terminal], [], [], 1)[0]:
        continue
    try:
        data = os.read(terminal, 65536)
    except OSError:  # The program has ended.
        break
    if not data:
        break
    sys.stdout.buffer.write(data)
    fresh += data.decode("utf8", "replace")
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", fresh)
    if answers and answers[0][0] in " ".join(plain.replace("│", " ").split()):
        os.write(terminal, answers.pop(0)[1].encode())
        fresh = ""
else:
    os.kill(child, 9)
sys.stdout.flush()
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
if answers:
    print("never asked:", [question for question, _ in answers], file=sys.stderr)
    code = 99
sys.exit(code if code >= 0 else 128 - code)
