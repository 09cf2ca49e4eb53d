//! Reads and writes JSON: every text that comes from outside, or out of the storage, goes through here.
//!
//! What serde derives takes an array for a struct too, its fields in turn, and so brings a second reader of each along: a tenth of the
//! Worker, which V8 compiles in each cold isolate together with the one that is used. `Objects` takes an object for a struct and nothing
//! else. One function for texts and bytes alike, since each kind of input would be a third.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde::{Deserialize, Serialize};

/// Reads all of `bytes` as one value.
///
/// # Errors
/// If they are not JSON, or not of this type; what is missing or wrong, and where.
pub fn read<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> serde_json::Result<T> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = T::deserialize(Objects(&mut json))?;
    json.end()?;
    Ok(value)
}

/// Writes what is of our own types, none of which fails to be written: texts, numbers, lists and objects of them.
#[must_use]
pub fn write(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Hands everything on to what it wraps, so that all that is read within is wrapped too, but for structs: those it reads as maps.
struct Objects<T>(T);

/// Methods that read what has nothing within.
macro_rules! hand_on {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
            self.0.$method(visitor)
        })*
    };
}

/// Methods that read what has values within.
macro_rules! hand_on_wrapped {
    ($($method:ident($($name:ident: $type:ty),*))*) => {
        $(fn $method<V: Visitor<'de>>(self, $($name: $type,)* visitor: V) -> Result<V::Value, Self::Error> {
            self.0.$method($($name,)* Objects(visitor))
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Objects<D> {
    type Error = D::Error;

    hand_on! {
        deserialize_bool
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_f32 deserialize_f64
        deserialize_char deserialize_str deserialize_string
        deserialize_bytes deserialize_byte_buf
        deserialize_unit deserialize_identifier deserialize_ignored_any
    }

    hand_on_wrapped! {
        deserialize_any()
        deserialize_option()
        deserialize_seq()
        deserialize_map()
        deserialize_tuple(length: usize)
        deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str)
        deserialize_tuple_struct(name: &'static str, length: usize)
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.deserialize_map(Objects(visitor))
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

/// Values that are whole.
macro_rules! visit {
    ($($method:ident($type:ty))*) => {
        $(fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.0.$method(value)
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Objects<V> {
    type Value = V::Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(out)
    }

    visit! {
        visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64)
        visit_str(&str) visit_borrowed_str(&'de str) visit_string(String)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, json: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Objects(json))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, json: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Objects(json))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Objects(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Objects(fields))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(Objects(variant))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Objects<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Objects(json))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Objects<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Objects(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Objects<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        // A key is a text.
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Objects(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Objects<A> {
    type Error = A::Error;
    type Variant = Objects<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        self.0.variant_seed(seed).map(|(value, variant)| (value, Objects(variant)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Objects<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(Objects(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(length, Objects(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, Objects(visitor))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Serialize};

    use super::read;

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Inner {
        at: i64,
        #[serde(default)]
        name: Option<String>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Pair(u8, char);

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Kind {
        Plain,
        One(Inner),
        Two(u8, Inner),
        Named { inner: Inner },
    }

    /// All that a type of the Worker may be made of.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Whole {
        inner: Inner,
        maybe: Option<Inner>,
        list: Vec<Inner>,
        map: BTreeMap<String, Inner>,
        pair: Pair,
        kinds: Vec<Kind>,
        truth: bool,
    }

    fn inner(at: i64) -> Inner {
        Inner { at, name: Some(format!("\u{e9}\"{at}")) }
    }

    #[test]
    fn what_serde_json_wrote_is_read_back_as_the_same() {
        let whole = Whole {
            inner: inner(-1),
            maybe: Some(inner(2)),
            list: vec![inner(3), Inner::default()],
            map: BTreeMap::from([("four".to_owned(), inner(4))]),
            pair: Pair(5, 'p'),
            kinds: vec![Kind::Plain, Kind::One(inner(6)), Kind::Two(7, inner(8)), Kind::Named { inner: inner(9) }],
            truth: true,
        };
        let json = serde_json::to_string(&whole).expect("it is plain data");
        assert_eq!(read::<Whole>(json.as_bytes()).expect("it is read back"), whole);
        assert_eq!(serde_json::from_str::<Whole>(&json).expect("serde_json reads it too"), whole);
    }

    #[test]
    fn an_array_is_no_struct_at_any_depth() {
        let refused = |json: &str| read::<Vec<Kind>>(json.as_bytes()).expect_err("no object").to_string();
        assert_eq!(refused(r#"[{"One":[1,null]}]"#), "invalid type: sequence, expected struct Inner at line 1 column 8");
        assert_eq!(refused(r#"[{"Two":[7,[1]]}]"#), "invalid type: sequence, expected struct Inner at line 1 column 11");
        let refused = |json: &str| read::<BTreeMap<String, Option<Inner>>>(json.as_bytes()).is_err();
        assert!(refused(r#"{"a":[1,null]}"#) && !refused(r#"{"a":{"at":1},"b":null}"#));
    }

    #[test]
    fn what_comes_after_the_value_is_an_error() {
        assert!(read::<Inner>(br#"{"at":1} "#).is_ok());
        assert!(read::<Inner>(br#"{"at":1} 2"#).is_err());
    }
}
