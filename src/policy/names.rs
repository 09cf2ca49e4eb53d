//! The few names that stand on thousands of deliveries.

use std::rc::Rc;

/// A list that names something new on each delivery would make the look-up slow.
const MOST: usize = 256;

/// Names that were met, each kept once.
#[derive(Debug, Default)]
pub struct Names(Vec<Rc<str>>);

impl Names {
    /// `name`, shared with those who met it before.
    pub fn shared(&mut self, name: &str) -> Rc<str> {
        if let Some(known) = self.0.iter().find(|known| ***known == *name) {
            return known.clone();
        }
        let name: Rc<str> = name.into();
        if self.0.len() < MOST {
            self.0.push(name.clone());
        }
        name
    }
}
