//! Pods of Kubernetes that opt in by an annotation, and their control groups.
//!
//! Who may ask the API writes the pods of the node to a file (`PodList`, as `kubectl get pods -o json` prints it); the
//! agent reads it and needs no rights there. A pod's control group has its identifier in its name: with the systemd
//! driver of the kubelet `kubepods-burstable-pod4f9a_3b1c.slice`, with the other `pod4f9a-3b1c`.

use crate::config::PodsConfig;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

#[derive(Deserialize)]
struct List {
    items: Vec<Pod>,
}

#[derive(Deserialize)]
struct Pod {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    uid: String,
    annotations: Option<BTreeMap<String, String>>,
}

/// The identifiers of the pods that want the agent.
///
/// # Errors
/// Where the file cannot be read or is no list of pods. One that is not there yet lists none.
pub(crate) fn wanting(config: &PodsConfig) -> io::Result<BTreeSet<String>> {
    let text = match std::fs::read(&config.file) {
        // Nobody has listed them yet.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        other => other?,
    };
    let list: List = serde_json::from_slice(&text).map_err(|error| {
        let what = format!("{} is no list of pods: {error}", config.file.display());
        io::Error::new(io::ErrorKind::InvalidData, what)
    })?;
    let wants = |pod: &Pod| {
        let annotation =
            pod.metadata.annotations.iter().find_map(|all| all.get(&config.annotation));
        // Without an identifier any pod would be meant.
        annotation.is_some_and(|one| one == "on") && !pod.metadata.uid.is_empty()
    };
    Ok(list.items.into_iter().filter(wants).map(|pod| pod.metadata.uid).collect())
}

/// The control groups, by path, of pods with these identifiers: the pod's own, which has those of its containers below
/// it.
pub(crate) fn cgroups_of<'a>(
    uids: &BTreeSet<String>,
    paths: impl Iterator<Item = &'a str>,
) -> BTreeSet<String> {
    let names: BTreeSet<String> = uids
        .iter()
        .flat_map(|uid| [format!("pod{uid}"), format!("pod{}.slice", uid.replace('-', "_"))])
        .collect();
    let is_one = |path: &&str| {
        let last = path.rsplit('/').next().unwrap_or(path);
        names.iter().any(|name| {
            last == name
                || last.strip_suffix(name.as_str()).is_some_and(|before| before.ends_with('-'))
        })
    };
    paths.filter(is_one).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_that_opt_in_are_found_by_their_control_groups() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("pods.json");
        std::fs::write(
            &file,
            r#"{"kind": "PodList", "items": [
                {"metadata": {"uid": "4f9a-3b1c", "annotations": {"ackord.io/agent": "on"}}},
                {"metadata": {"uid": "aaaa-bbbb", "annotations": {"ackord.io/agent": "off"}}},
                {"metadata": {"uid": "cccc-dddd"}}
            ]}"#,
        )
        .expect("ours");
        let config = PodsConfig { file, annotation: "ackord.io/agent".to_owned() };
        let uids = wanting(&config).expect("a list");
        let paths = [
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod4f9a_3b1c.slice",
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podaaaa_bbbb.slice",
            "/kubepods/besteffort/pod4f9a-3b1c",
            "/kubepods/besteffort/pod4f9a-3b1c/container",
            "/kubepods/besteffort/podcccc-dddd",
        ];
        let found = cgroups_of(&uids, paths.into_iter());
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [paths[0], paths[2]]);
    }

    #[test]
    fn what_is_no_list_of_pods_is_said_with_its_file_and_an_odd_annotation_wants_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("pods.json");
        let config = PodsConfig { file, annotation: "ackord.io/agent".to_owned() };
        let told = |text: &[u8]| {
            std::fs::write(&config.file, text).expect("ours");
            wanting(&config)
        };
        let pod = |metadata: &str| format!(r#"{{"items": [{{"metadata": {metadata}}}]}}"#);
        for garbage in [
            &b""[..],
            b"{}",
            b"\xff\xfe\x00",
            br#"{"items": [{"metadata": {"uid": "4f9a"#,
            br#"{"kind": "Status", "status": "Failure", "reason": "Forbidden"}"#,
            pod(r#"{"uid": 7}"#).as_bytes(),
            pod(r#"{"uid": "a", "annotations": {"ackord.io/agent": true}}"#).as_bytes(),
        ] {
            let error = told(garbage).expect_err("no list").to_string();
            assert!(error.contains("pods.json is no list of pods: "), "{error}");
        }
        for nobody in [
            r#"{"uid": "a", "annotations": {"ackord.io/agent": "ON"}}"#,
            r#"{"uid": "a", "annotations": {"ackord.io/agent": "on\n"}}"#,
            r#"{"uid": "a", "annotations": {}}"#,
            r#"{"uid": "a", "annotations": null}"#,
            r#"{"uid": "", "annotations": {"ackord.io/agent": "on"}}"#,
        ] {
            assert!(told(pod(nobody).as_bytes()).expect("a list").is_empty(), "{nobody}");
        }
    }
}
