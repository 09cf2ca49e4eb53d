//! Keeps the parts of a sweep apart in the compiled Worker.
//!
//! What is awaited in one place only becomes part of the function around it, so the whole sweep was one function of 130 kB. V8 compiles a
//! function when it first runs, in a time that grows faster than its length: this one took half of a cold sweep.

use std::hint::black_box;
use std::pin::Pin;

/// The same future, whose code stays a function of its own.
pub fn apart<'a, T>(future: impl Future<Output = T> + 'a) -> Pin<Box<dyn Future<Output = T> + 'a>> {
    let boxed: Pin<Box<dyn Future<Output = T> + 'a>> = Box::pin(future);
    // The compiler would see through the box and make it one function again.
    black_box(boxed)
}
