//! Sorting, in little room. The standard library's sort is compiled anew for each kind of element, which
//! takes 5 KB of the node's program each time, as does collecting into a `BTreeMap`; this is there once.

use std::cmp::Ordering;

/// Sorts the list. What is equal stays in its order.
pub fn sort_by<T>(list: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let mut places = places(list.len(), &mut |a, b| compare(&list[a], &list[b]));
    for at in 0..list.len() {
        while places[at] != at {
            let place = places[at];
            list.swap(at, place);
            places.swap(at, place);
        }
    }
}

/// The same, by the order that the elements have.
pub fn sort<T: Ord>(list: &mut [T]) {
    sort_by(list, T::cmp);
}

/// The same, by the keys of the elements.
pub fn sort_by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(list, |a, b| key(a).cmp(&key(b)));
}

/// To which place each of so many elements goes.
#[inline(never)]
fn places(len: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|a, b| compare(*a, *b));
    let mut places = vec![0; len];
    order.iter().enumerate().for_each(|(place, at)| places[*at] = place);
    places
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_the_standard_librarys_order(list: Vec<(u8, u8)>) {
            let mut expected = list.clone();
            expected.sort_by_key(|(key, _)| *key);
            let mut sorted = list;
            sort_by_key(&mut sorted, |(key, _)| *key);
            prop_assert_eq!(&sorted, &expected);
            expected.sort();
            sort(&mut sorted);
            prop_assert_eq!(sorted, expected);
        }
    }
}
