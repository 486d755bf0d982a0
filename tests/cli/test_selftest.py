"""`doctor --box`: the box tries itself, and a run knows what it found before it begins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.cli.command import Scene, box, cloud

from b24sim.errors import RestError
from b24sim.imports.box import Body, Result
from b24sim.imports.forgetful import Forgetful
from b24sim.serve import Running

PHONE = {"users:WORK_PHONE": "In the self-test this box kept nothing of the value."}
LATE = "not tried: the box is too slow for the whole self-test"
PEOPLE = '[run]\nentities = ["users"]\n'


@contextmanager
def unaware(scene: Scene) -> Iterator[Running]:
    """A box that loses a field, and does not know it yet."""
    with cloud() as source, box() as target:
        target.portal.imports = Forgetful(target.portal.imports, PHONE, said={})  # type: ignore[assignment]
        scene.source, scene.target, scene.more = source.webhook(), target.webhook(), PEOPLE
        yield target


def test_what_the_box_finds_out_is_named_and_wants_to_be_accepted_before_a_run(scene: Scene) -> None:
    with unaware(scene) as target:
        assert "the target keeps every field" in scene.run("doctor").out
        data = scene.run("doctor", "--box", "--json").json
        found = {check["name"]: check for check in data["checks"]}
        assert found["box: users.WORK_PHONE"]["level"] == "warning"
        assert found["box: users.WORK_PHONE"]["message"].endswith("the box has null")
        assert found["box: mails"]["ok"]
        assert not found["fidelity"]["ok"]
        assert data["exit_code"] == 0
        assert scene.run("run").code == 3
        assert not target.portal.imports.dump("users")
        (line,) = scene.run("fidelity", "--json").json["items"]
        assert (line["stream"], line["field"], line["keeping"]) == ("users", "WORK_PHONE", "lost")
        assert scene.run("run", "--accept-fidelity").code == 0


def test_nothing_is_tried_unless_somebody_asks_for_it(scene: Scene) -> None:
    with unaware(scene):
        assert "box: " not in scene.run("doctor").out
        assert scene.run("fidelity", "--json").json["all_kept"] is True


def test_it_speaks_russian(scene: Scene) -> None:
    with unaware(scene):
        out = " ".join(scene.run("doctor", "--box", "--lang", "ru").out.split())
        assert 'самопроверка: users.WORK_PHONE: отправлено "b24migrate selftest", в коробке null' in out
        assert "самопроверка: mails: ничего не запущено" in out
        assert "какие ограничения нужно принять до запуска" in out
        output = scene.run("fidelity", "--lang", "ru").out
        assert "При самопроверке коробка не сохранила значение." in " ".join(output.split())


def test_a_box_whose_module_is_older_says_so(company: Scene) -> None:
    result = company.run("doctor", "--box")
    assert result.code == 0
    assert "box: the self-test is part of the current import module" in result.out
    assert "Install the current import module on the box" in result.out


class Broken(Forgetful):
    """A box that dies in its self-test, or is too slow for the whole of it."""

    asked = 0
    late = False

    def handle(self, method: str, body: Body, size: int | None = None) -> Result:
        if method != "import.selftest":
            return super().handle(method, body, size)
        self.asked += 1
        if not self.late:
            raise RestError("INTERNAL_SERVER_ERROR", "gone", 500)
        return {"checks": [{"name": "tasks", "ok": False, "detail": LATE, "key": "skipped", "values": {}}]}


def test_a_box_that_dies_in_it_is_not_asked_again_and_the_next_one_cleans_up(scene: Scene) -> None:
    with unaware(scene) as target:
        target.portal.imports = broken = Broken(target.portal.imports, {})  # type: ignore[assignment]
        result = scene.run("doctor", "--box")
        assert result.code == 0
        assert "the box did not finish its self-test" in result.out
        assert "Run it again: it first removes what was left." in result.out
        assert broken.asked == 1
        broken.late = True
        output = " ".join(scene.run("doctor", "--box", "--lang", "ru").out.split())
        assert "самопроверка: tasks: не проверено: коробка слишком медленная для полной самопроверки" in output


def test_the_box_is_tried_before_the_source_is_there(scene: Scene) -> None:
    with unaware(scene):
        scene.source = "http://127.0.0.1:9/rest/1/cloudsecret7f3a91/"
        result = scene.run("doctor", "--box")
        assert result.code == 4
        assert "users.WORK_PHONE" in result.out
