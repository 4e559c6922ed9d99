"""The files of packaging/: systemd, hadolint, Helm and Kubernetes' own schemas take them, and what they start is what
the program knows."""

from __future__ import annotations

import pathlib
import re
import subprocess
from collections.abc import Iterator

import helm_python
import kubernetes_validate
import pytest
import yaml

from program import Program

_REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
_PACKAGING = _REPOSITORY / "packaging"
_CHART = _PACKAGING / "helm/tidemark"
_KUBERNETES = ("1.25", "1.30", "1.34")
_EXPOSURE_MAX = 2.0  # systemd's own scale: 0 is safe, 10 is not


def done(*words: object) -> str:
    run = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout + run.stderr


# --- systemd ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def unit(tidemark: Program, tmp_path: pathlib.Path) -> pathlib.Path:
    """The unit, with the program where it stands now."""
    text = (_PACKAGING / "systemd/tidemark.service").read_text()
    assert text.count("/usr/bin/tidemark") == 1
    file = tmp_path / "tidemark.service"
    file.write_text(text.replace("/usr/bin/tidemark", str(tidemark.binary)))
    return file


def test_systemd_has_nothing_to_say_about_the_unit(unit: pathlib.Path) -> None:
    said = done("systemd-analyze", "verify", "--man=no", unit)
    assert "tidemark.service" not in said, said


def test_the_unit_exposes_little(unit: pathlib.Path) -> None:
    said = done("systemd-analyze", "security", "--offline=true", "--no-pager", unit)
    exposure = re.search(r"Overall exposure level for tidemark.service: ([0-9.]+)", said)
    assert exposure and float(exposure[1]) <= _EXPOSURE_MAX, said


def test_the_unit_starts_what_the_program_knows(tidemark: Program, unit: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (command,) = re.findall(r"^ExecStart=(.+)$", unit.read_text(), re.M)
    _, *words = command.split()
    words[words.index("--config") + 1] = str(tmp_path / "nothing.yaml")
    assert "nothing.yaml" in tidemark(*words).err, "every flag was understood, and the file is what is missing"


def test_the_drop_in_lets_the_documented_text_file_be_written(unit: pathlib.Path) -> None:
    drop_in = (_PACKAGING / "systemd/textfile.conf").read_text()
    folder = unit.parent / "tidemark.service.d"
    folder.mkdir()
    (folder / "textfile.conf").write_text(drop_in)
    said = done("systemd-analyze", "verify", "--man=no", unit)
    assert "tidemark.service" not in said and "textfile.conf" not in said, said
    (writable,) = re.findall(r"^ReadWritePaths=-?(.+)$", drop_in, re.M)
    (example,) = re.findall(r"textfile: \{ path: (/\S+) }", (_REPOSITORY / "docs/exporters.md").read_text())
    assert pathlib.PurePath(writable) == pathlib.PurePath(example).parent
    (group,) = re.findall(r"^SupplementaryGroups=(.+)$", drop_in, re.M)
    assert f"groupadd --system {group}\n" in drop_in and f"chgrp {group} {writable}" in drop_in


# --- The image --------------------------------------------------------------------------------------------------------


def test_hadolint_has_nothing_to_say_about_the_dockerfile() -> None:
    hadolint = pathlib.Path(helm_python.__file__).parents[4] / "bin/hadolint"
    assert done(hadolint, "--failure-threshold=info", _PACKAGING / "docker/Dockerfile") == ""


def test_the_image_holds_every_library_that_the_program_links(tidemark: Program) -> None:
    stage = (_PACKAGING / "docker/Dockerfile").read_text().split("\nFROM ")[-1]
    installed = set(re.search(r"--no-install-recommends \\\n(.*?)&& rm", stage, re.S)[1].replace("\\", "").split())
    in_every_image = {"libc6", "libgcc-s1"}
    module = tidemark.binary.parent / "src/columnar/libtidemark_columnar.so"
    for built in (tidemark.binary, module):
        for name in re.findall(r"\(NEEDED\).*\[(.+)\]", done("readelf", "-d", built)):
            if name.startswith(("libarrow.so", "libparquet.so", "ld-linux")):
                continue  # installed beside the module, or the loader itself
            path = re.search(rf"{re.escape(name)} => (\S+)", done("ldd", built))
            package = package_of(pathlib.Path(path[1]))
            assert package in installed | in_every_image, f"{name} of {package}"


def package_of(library: pathlib.Path) -> str:
    # The package knows the file by the path it was unpacked to, which may be /lib or /usr/lib.
    names = {str(library), str(library.resolve()), str(library).removeprefix("/usr"), "/usr" + str(library)}
    run = subprocess.run(["dpkg-query", "-S", *names], capture_output=True, text=True)
    assert run.stdout, f"no package has {library}"
    return run.stdout.split(":")[0]


# --- The chart --------------------------------------------------------------------------------------------------------

RULES = "groups:\n  - name: g\n    rules: []\n"
CHOICES: dict[str, dict] = {
    "as it is": {},
    "everything": {
        "config": "clusters: {}\npipelines: []\n",
        "env": [{"name": "KAFKA_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "kafka", "key": "password"}}}],
        "envFrom": [{"secretRef": {"name": "lake"}}],
        "imagePullSecrets": [{"name": "registry"}],
        "persistence": {"enabled": True, "size": "10Gi", "storageClass": "fast"},
        "serviceAccount": {"create": True, "annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/lake"}},
        "service": {"annotations": {"a": "b"}},
        "secrets": {"lake.keys": "/etc/tidemark-secrets/lake", "lake-keys": "/etc/tidemark-secrets/other"},
        "extraVolumes": [{"name": "authorities", "configMap": {"name": "authorities"}}],
        "extraVolumeMounts": [{"name": "authorities", "mountPath": "/etc/authorities", "readOnly": True}],
        "serviceMonitor": {
            "enabled": True,
            "labels": {"release": "prometheus"},
            "bearerToken": {"name": "scraper", "key": "token"},
            "tlsConfig": {"ca": {"configMap": {"name": "authorities", "key": "ca.pem"}}},
        },
        "prometheusRule": {"enabled": True, "rules": RULES, "labels": {"role": "alerts"}},
        "podAnnotations": {"a": "b"},
        "podLabels": {"azure.workload.identity/use": "true"},
        "nodeSelector": {"kubernetes.io/arch": "amd64"},
        "tolerations": [{"key": "lake", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
    },
    "several": {
        "replicas": 3,
        "config": "clusters: {}\npipelines: []\ncoordination: { group: freshness }\n",
        "persistence": {"enabled": False},
    },
    "with tokens and a certificate": {
        "config": """
          pipelines: []
          http:
            tls: { certificate: /etc/tidemark-secrets/tls/tls.crt, key: /etc/tidemark-secrets/tls/tls.key }
            auth: { bearer_tokens_file: /etc/tidemark-secrets/tokens/tokens }
        """,
        "secrets": {"lake-tls": "/etc/tidemark-secrets/tls", "lake-tokens": "/etc/tidemark-secrets/tokens"},
        "serviceMonitor": {"enabled": True, "bearerToken": {"name": "scraper", "key": "token"}},
    },
    "nothing of its own": {
        "existingConfigMap": "mine",
        "persistence": {"enabled": False},
        "serviceAccount": {"create": False, "name": "lake"},
    },
}


@pytest.fixture(params=CHOICES.values(), ids=CHOICES.keys())
def objects(request: pytest.FixtureRequest) -> Iterator[list[dict]]:
    """What Helm makes of the chart."""
    with helm_python.Chart.load(_CHART) as chart:
        texts = chart.render(request.param, name="lake", namespace="monitoring").values()
    yield [each for text in texts for each in yaml.safe_load_all(text) if each]


def test_helm_has_nothing_to_say_about_the_chart() -> None:
    said = helm_python.lint(_CHART, strict=True)
    assert said["errors"] == []
    assert [each["error"] for each in said["messages"]] == ["icon is recommended"]


def test_kubernetes_takes_every_object(objects: list[dict]) -> None:
    assert {"Service", "StatefulSet"} <= {each["kind"] for each in objects}
    for each in objects:
        if each["apiVersion"].startswith("monitoring.coreos.com/"):
            continue  # the Prometheus operator's, which has no schema there
        for version in _KUBERNETES:
            kubernetes_validate.validate(each, version, strict=True)


def test_objects_that_belong_together_find_each_other(objects: list[dict]) -> None:
    by_kind = {each["kind"]: each for each in objects}
    pod = by_kind["StatefulSet"]["spec"]["template"]
    for selector in (by_kind["StatefulSet"]["spec"]["selector"]["matchLabels"], by_kind["Service"]["spec"]["selector"]):
        assert selector.items() <= pod["metadata"]["labels"].items()
    (container,) = pod["spec"]["containers"]
    mounted = {each["name"] for each in container["volumeMounts"]}
    assert len(mounted) == len(container["volumeMounts"])
    claimed = {each["metadata"]["name"] for each in by_kind["StatefulSet"]["spec"].get("volumeClaimTemplates", [])}
    assert mounted == claimed | {each["name"] for each in pod["spec"]["volumes"]}
    (config,) = (each["configMap"]["name"] for each in pod["spec"]["volumes"] if each["name"] == "config")
    assert config == by_kind["ConfigMap"]["metadata"]["name"] if "ConfigMap" in by_kind else config == "mine"
    ports = {each["name"] for each in container["ports"]}
    assert {each["targetPort"] for each in by_kind["Service"]["spec"]["ports"]} <= ports
    if "ServiceMonitor" in by_kind:
        wanted = by_kind["ServiceMonitor"]["spec"]["selector"]["matchLabels"]
        assert wanted.items() <= by_kind["Service"]["metadata"]["labels"].items()
    if "PrometheusRule" in by_kind:
        assert by_kind["PrometheusRule"]["spec"] == yaml.safe_load(RULES)


def test_the_chart_starts_what_the_program_knows(
    tidemark: Program, objects: list[dict], tmp_path: pathlib.Path
) -> None:
    (stateful,) = (each for each in objects if each["kind"] == "StatefulSet")
    (container,) = stateful["spec"]["template"]["spec"]["containers"]
    words = list(container["args"])
    words[words.index("--config") + 1] = str(tmp_path / "nothing.yaml")
    assert "nothing.yaml" in tidemark(*words).err
    for probe in ("livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["path"] in (_REPOSITORY / "src/api/openapi.json").read_text()


@pytest.mark.parametrize(
    "values",
    [
        {"imagee": {}},
        {"replicas": 0},
        {"service": {"port": "http"}},
        {"persistence": {"size": "much"}},
        {"image": {"repository": ""}},
        {"scheme": "https"},
        {"secrets": {"tokens": "tokens"}},
        {"secrets": {"tokens": "/etc/tidemark/tokens"}},
        {"secrets": {"tokens": "/var/lib/tidemark"}},
        {"extraVolumes": [{"emptyDir": {}}]},
        {"extraVolumeMounts": [{"name": "authorities"}]},
        {"serviceMonitor": {"bearerToken": {"name": "scraper"}}},
        {"serviceMonitor": {"bearerToken": {"token": "secret"}}},
        {"serviceMonitor": {"tlsConfig": True}},
    ],
    ids=str,
)
def test_values_that_cannot_be_are_refused(values: dict) -> None:
    with helm_python.Chart.load(_CHART) as chart, pytest.raises(helm_python.HelmValuesError):
        chart.validate_schema(chart.merge_values(values))


def test_rules_that_are_not_given_are_asked_for() -> None:
    with helm_python.Chart.load(_CHART) as chart, pytest.raises(helm_python.HelmRenderError, match="tidemark rules"):
        chart.render({"prometheusRule": {"enabled": True}}, name="lake")


def test_several_replicas_want_a_configuration_that_shares_the_pipelines() -> None:
    with helm_python.Chart.load(_CHART) as chart:
        with pytest.raises(helm_python.HelmRenderError, match="section coordination"):
            chart.render({"replicas": 2}, name="lake")
        # What stands in a ConfigMap of others cannot be seen from here.
        chart.render({"replicas": 2, "existingConfigMap": "mine"}, name="lake")


# --- The chart with http.tls and http.auth ----------------------------------------------------------------------------

TLS = "http: { tls: { certificate: /tls/tls.crt, key: /tls/tls.key } }\n"
TOKENS = "http: { auth: { bearer_tokens_file: /tokens/tokens } }\n"


def made(values: dict) -> dict[str, dict]:
    """What Helm makes of the chart, by kind; the values are held against their schema first."""
    with helm_python.Chart.load(_CHART) as chart:
        chart.validate_schema(chart.merge_values(values))
        texts = chart.render(values, name="lake", namespace="monitoring").values()
    return {each["kind"]: each for text in texts for each in yaml.safe_load_all(text) if each}


def pod_of(objects: dict[str, dict]) -> dict:
    return objects["StatefulSet"]["spec"]["template"]["spec"]


def endpoint_of(values: dict) -> dict:
    monitor = made({**values, "serviceMonitor": {"enabled": True, **values.get("serviceMonitor", {})}})
    (endpoint,) = monitor["ServiceMonitor"]["spec"]["endpoints"]
    return endpoint


@pytest.mark.parametrize(
    "values, scheme",
    [
        ({}, "HTTP"),
        ({"config": TLS}, "HTTPS"),
        ({"config": TOKENS}, "HTTP"),
        ({"config": "http:\n"}, "HTTP"),
        ({"config": "http: { tls: }\n"}, "HTTP"),
        ({"existingConfigMap": "mine"}, "HTTP"),
        ({"existingConfigMap": "mine", "scheme": "HTTPS"}, "HTTPS"),
    ],
    ids=str,
)
def test_probes_and_scrapes_speak_as_the_daemon_does(values: dict, scheme: str) -> None:
    (container,) = pod_of(made(values))["containers"]
    assert [container[probe]["httpGet"]["scheme"] for probe in ("livenessProbe", "readinessProbe")] == [scheme] * 2
    given = {"bearerToken": {"name": "scraper", "key": "token"}} if "auth" in values.get("config", "") else {}
    assert endpoint_of({**values, "serviceMonitor": given})["scheme"] == scheme.lower()


def test_a_scheme_that_the_configuration_contradicts_is_refused() -> None:
    with pytest.raises(helm_python.HelmRenderError, match="scheme"):
        made({"config": TLS, "scheme": "HTTP"})
    with pytest.raises(helm_python.HelmRenderError, match="scheme"):
        made({"config": TOKENS, "scheme": "HTTPS"})


def test_scrapes_bear_the_token_of_a_secret() -> None:
    endpoint = endpoint_of({"config": TOKENS, "serviceMonitor": {"bearerToken": {"name": "scraper", "key": "token"}}})
    assert endpoint["authorization"] == {"type": "Bearer", "credentials": {"name": "scraper", "key": "token"}}
    assert "authorization" not in endpoint_of({})


def test_scrapes_without_the_token_that_the_configuration_wants_are_refused() -> None:
    with pytest.raises(helm_python.HelmRenderError, match="serviceMonitor.bearerToken"):
        endpoint_of({"config": TOKENS})


def test_scrapes_expect_the_certificate_of_the_service() -> None:
    # Prometheus scrapes the pod's address, which no certificate names.
    assert endpoint_of({"config": TLS})["tlsConfig"] == {"serverName": "lake-tidemark.monitoring.svc"}
    ca = {"secret": {"name": "lake-tls", "key": "ca.crt"}}
    assert endpoint_of({"config": TLS, "serviceMonitor": {"tlsConfig": {"ca": ca}}})["tlsConfig"] == {
        "ca": ca,
        "serverName": "lake-tidemark.monitoring.svc",
    }
    own = {"serverName": "tidemark.example"}
    assert endpoint_of({"config": TLS, "serviceMonitor": {"tlsConfig": own}})["tlsConfig"] == own
    assert "tlsConfig" not in endpoint_of({})


def test_secrets_are_mounted_where_their_names_say_and_only_the_daemon_reads_them() -> None:
    secrets = {"lake-tokens": "/etc/tidemark-secrets/tokens", "kafka.authority": "/etc/tidemark-secrets/kafka"}
    pod = pod_of(made({"secrets": secrets}))
    (container,) = pod["containers"]
    names = {each["name"]: each["secret"]["secretName"] for each in pod["volumes"] if "secret" in each}
    mounts = [each for each in container["volumeMounts"] if each["name"] in names]
    assert {names[each["name"]]: each["mountPath"] for each in mounts} == secrets
    assert all(each["readOnly"] and "subPath" not in each for each in mounts)
    assert {each["secret"]["defaultMode"] for each in pod["volumes"] if "secret" in each} == {0o440}


def test_volumes_and_labels_of_others_come_into_the_pod() -> None:
    volume = {"name": "authorities", "configMap": {"name": "authorities"}}
    mount = {"name": "authorities", "mountPath": "/etc/authorities"}
    labels = {"azure.workload.identity/use": "true"}
    objects = made({"extraVolumes": [volume], "extraVolumeMounts": [mount], "podLabels": labels})
    pod = pod_of(objects)
    assert volume in pod["volumes"] and mount in pod["containers"][0]["volumeMounts"]
    assert labels.items() <= objects["StatefulSet"]["spec"]["template"]["metadata"]["labels"].items()
