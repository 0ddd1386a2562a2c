//! Bytes in JSON: `{"hex": "…"}`.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

#[derive(Serialize, Deserialize)]
struct Hex {
    hex: String,
}

pub(crate) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    Hex { hex: hex::encode(bytes) }.serialize(to)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    hex::decode(Hex::deserialize(from)?.hex).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use crate::sql::Value;

    #[test]
    fn a_value_is_the_same_after_json() {
        let row = vec![
            Value::Null,
            Value::Number(-3),
            Value::Text("{\"hex\": \"00\"}".into()),
            Value::Bytes(vec![0, 255]),
        ];
        let json = serde_json::to_string(&row).unwrap();
        assert_eq!(json, r#"[null,-3,"{\"hex\": \"00\"}",{"hex":"00ff"}]"#);
        assert_eq!(serde_json::from_str::<Vec<Value>>(&json).unwrap(), row);
    }
}
