// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.farm.desk.Hold;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.state.FarmKeeper.WorkerNews;
import io.kiln.farm.state.FarmKeeper.WorkerNews.About;
import io.kiln.farm.state.FarmKeeper.WorkerNews.Jobs;
import io.kiln.farm.state.FarmKeeper.WorkerNews.Offered;
import io.kiln.farm.state.FarmState;
import io.kiln.farm.state.FarmState.FarmUnit;
import io.kiln.flow.plan.PlanReader.PlanCells;
import io.kiln.flow.plan.PlanReader.PlanCells.PlanCell;
import io.kiln.flow.plan.PlanReader.TestPlan;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.toolchain.board.Boards;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What plans say, and which cells come of it. */
final class TestPlanTest {
    private static final List<ModelSource> MODELS =
            List.of(new ModelSource(Path.of("kws.tflite"), "kws"), new ModelSource(Path.of("vww.tflite"), "vww"));

    @TempDir
    private Path folder;

    private TestPlan plan(String text) {
        return PlanReader.parse("plan.yaml", Bytes.ofText(text), folder, MODELS);
    }

    private static Offered board(String id, String probe, String state, String labels) {
        return new Offered(id, "cortex-m4", "board", probe, state, labels);
    }

    private static List<FarmUnit> farm() {
        WorkerNews one = new WorkerNews(
                "one",
                new About("1.0.0", "room=3", "host", 1),
                1,
                new Jobs(0, 0),
                List.of(
                        new Offered("mps2-an386", "cortex-m4", "emulator", "", "ready", ""),
                        board("nucleo-f446re", "A1", "ready", "silicon=real"),
                        board("nucleo-f446re", "A2", "ready", "silicon=real"),
                        board("virtual-stm32f405", "v", "ready", "silicon=virtual")),
                List.of(),
                List.of());
        WorkerNews two = new WorkerNews(
                "t/w o",
                new About("1.0.0", "", "host", 2),
                Integer.MAX_VALUE,
                new Jobs(0, 0),
                List.of(
                        board("nucleo-l476rg", "B1", "ready", "silicon=real"),
                        board("nucleo-f446re", "A1", "leased elsewhere", "silicon=real"),
                        board("../../etc", "x", "ready", "")),
                List.of(),
                List.of());
        Hold hold = new Hold("one/A2", "2026-11-30T08:00:00Z", true, "3 different jobs failed on it");
        return FarmUnit.of(new FarmState(
                "farm",
                "2026-11-30T08:00:00Z",
                new FarmState.Desk("1.0.0", 0, List.of(hold)),
                List.of(new FarmState.Seen(1, one), new FarmState.Seen(1, two)),
                List.of(),
                List.of()));
    }

    private List<String> cells(Optional<List<FarmUnit>> farm, String usual, String runs) {
        return new PlanCells(Boards.builtIn(), farm, Labels.parse("", usual))
                .of(plan("schema: 1\nruns:\n" + runs), MODELS).stream()
                        .map(cell -> cell.model().name() + " " + cell.shown()
                                + cell.missing().map(why -> " " + why.result()).orElse(""))
                        .toList();
    }

    private List<String> onFarm(String runs) {
        return cells(Optional.of(farm()), "", runs);
    }

    @Test
    void every_any_or_each_single_board_of_those_that_match() {
        assertThat(onFarm("  - {models: [kws], boards: ['nucleo-*', nucleo-f446re], on: board}"))
                .containsExactly("kws nucleo-f446re (board)", "kws nucleo-l476rg (board)");
        assertThat(onFarm("  - {models: [kws], boards: [nucleo-x, 'nucleo-*'], on: board, match: any}"))
                .containsExactly("kws nucleo-f446re (board)");
        // One is held, and one is leased by the other worker.
        assertThat(onFarm("  - {models: ['v*'], boards: ['*'], on: board, needs: silicon=real, match: units}"))
                .containsExactly("vww nucleo-f446re (board one/A1)", "vww nucleo-l476rg (board t_w_o/B1)");
        assertThat(onFarm("  - {models: [kws], boards: ['nucleo-*'], on: board, needs: 'room=3,silicon=r*'}"))
                .containsExactly("kws nucleo-f446re (board, room=3,silicon=r*)");
        assertThat(cells(
                        Optional.of(farm()),
                        "room=4,silicon=real",
                        "  - {models: [kws], boards: ['*-stm32f405'], on: board, needs: 'room=3,silicon=virtual'}"))
                .containsExactly("kws virtual-stm32f405 (board, room=3,silicon=virtual)");
        assertThat(onFarm("  - {boards: ['*'], on: board, missing: skip}"))
                .noneMatch(cell -> cell.contains("etc"))
                .hasSize(6);
    }

    @Test
    void what_nobody_has_fails_unless_the_plan_does_not_mind() {
        assertThat(onFarm("""
              - {boards: [mps2-an505, nrf52840-dk]}
              - {models: [vww], boards: [mps2-an505], missing: skip}
            """))
                .containsExactly(
                        "kws mps2-an505 (emulator) FAILED",
                        "kws nrf52840-dk (emulator)",
                        "vww mps2-an505 (emulator) FAILED",
                        "vww nrf52840-dk (emulator)",
                        "vww mps2-an505 (emulator) SKIPPED");
        PlanCell cell = new PlanCells(Boards.builtIn(), Optional.of(farm()), Labels.NONE)
                .of(plan("schema: 1\nruns: [{boards: [nucleo-f446re], on: board, needs: room=4}]"), MODELS)
                .get(0);
        assertThat(cell.missing().orElseThrow().reason())
                .isEqualTo("the farm has no nucleo-f446re (board) with the labels room=4 that takes jobs; there are"
                        + " ../../etc (board, worker t/w o, probe x),"
                        + " nucleo-f446re (board, worker one, probe A1, silicon=real,room=3),"
                        + " nucleo-f446re (board, worker one, probe A2, silicon=real,room=3, in quarantine: 3 different"
                        + " jobs failed on it),"
                        + " nucleo-f446re (board, worker t/w o, probe A1, silicon=real, leased elsewhere),"
                        + " nucleo-l476rg (board, worker t/w o, probe B1, silicon=real),"
                        + " virtual-stm32f405 (board, worker one, probe v, silicon=virtual,room=3)");
    }

    @Test
    void without_a_farm_boards_are_skipped() {
        assertThat(cells(
                        Optional.empty(),
                        "",
                        "  - {models: [kws], boards: ['*'], on: board}\n"
                                + "  - {models: [kws], boards: [mps2-an386x, host]}"))
                .containsExactly("kws * (board) SKIPPED", "kws mps2-an386x (emulator) FAILED", "kws host (emulator)");
    }

    @Test
    void every_mistake_is_told_with_its_place_and_what_was_meant() {
        assertThatThrownBy(() -> plan("schema: 1\ntitel: x\nruns:\n  - {board: [a], on: moon}\n"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("plan.yaml:2:1: unknown key \"titel\". Did you mean title")
                .hasMessageContaining("plan.yaml:4:6: unknown key \"board\". Did you mean boards")
                .hasMessageContaining("plan.yaml:4:18: runs.0.on: ")
                .hasMessageContaining("required property 'boards' not found");
        assertThatThrownBy(() -> plan("""
            schema: 1
            models:
              kws: {file: none.tflite, vectors: none}
            runs:
              - {boards: [a], models: [kwz], needs: 'Room=3'}
              - {boards: [a], needs: 'a=1,b=2,c=3,d=4,e=5'}
            """))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("plan.yaml:3:9: no such model: " + folder.resolve("none.tflite"))
                .hasMessageContaining("plan.yaml:3:28: no such folder of vectors: " + folder.resolve("none"))
                .hasMessageContaining("no model `kwz`; expected one of kws. Did you mean kws")
                .hasMessageContaining("plan.yaml:5:34: not a label: `Room=3`")
                .hasMessageContaining("plan.yaml:6:19: not a label: `e=5`");
        assertThatThrownBy(() -> plan("schema: 1\nruns: [{boards: ['../x']}]"))
                .hasMessageContaining("plan.yaml:2:18: runs.0.boards.0: ");
    }

    @Test
    void a_plan_does_not_grow_beyond_a_thousand_cells() {
        String boards = "'b"
                + String.join(
                        "','b",
                        IntStream.range(0, 100).mapToObj(String::valueOf).toList()) + "'";
        String runs = String.join(
                "\n",
                IntStream.range(0, 6)
                        .mapToObj(i ->
                                "  - {boards: [" + boards.replace("b", "b" + i + "-") + "], on: board, missing: skip}")
                        .toList());
        assertThatThrownBy(() -> onFarm(runs))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the plan asks for 1200 verifications; expected 1000 at most");
    }
}
