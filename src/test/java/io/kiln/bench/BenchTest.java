// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.bench.BenchData.Goal;
import io.kiln.bench.BenchData.Kind;
import io.kiln.bench.BenchData.Row;
import io.kiln.bench.BenchImage.Setting;
import io.kiln.bench.BenchResult.Figures;
import io.kiln.bench.Disassembly.Tally;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.frontend.tflite.ZooNetworks;
import io.kiln.ir.Function;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.reference.Interpreter;
import io.kiln.report.Json;
import io.kiln.report.JsonSchemas;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The bench counts what it says; what it counts is no test. */
final class BenchTest {
    private static final Path MODEL = Path.of("src", "it", "quickstart", "src", "main", "model", "gesture.tflite");
    private static final Path VECTORS = Path.of("src", "it", "quickstart", "src", "test", "vectors");

    @TempDir
    Path folder;

    @Test
    void everyModelAndCoreOfTheTablesIsARow() {
        BenchData data = BenchData.load();
        List<Row> rows = data.rows();
        // GCC does not know one of the cores.
        assertThat(rows.stream().map(Row::id)).doesNotHaveDuplicates().hasSize(2 * (54 + 5 + 7 + 6 + 10) + 2 - 1);
        assertThat(rows).allMatch(row -> row.goal().goal() > 0);
        assertThat(rows)
                .filteredOn(row -> row.kind() != Kind.GENERATE)
                .allMatch(row -> (data.models().containsKey(row.model()) || row.kind() == Kind.LAYERS)
                        && data.cores().containsKey(row.core()));
        assertThat(rows).filteredOn(row -> row.matches("KWS-m4f")).hasSize(2);
        assertThat(rows).filteredOn(row -> row.matches("ram-gnu")).hasSize(7).allMatch(row -> row.kind() == Kind.RAM);
    }

    @Test
    void networksOfTheZooHaveTheWeightsThatArePublishedOfThem() {
        BenchData data = BenchData.load();
        assertThat(ZooNetworks.names())
                .containsExactlyInAnyOrderElementsOf(data.zoo().keySet());
        data.zoo().forEach((name, published) -> {
            assertThat(ZooNetworks.network(name).parameterBytes() / 1024.0)
                    .as(name)
                    .isCloseTo(published.weights(), within(0.01));
            assertThat(Boards.builtIn().ids()).contains(published.board());
        });
    }

    @Test
    void aTableHasALineForEachCountAndAColumnForEachToolchain() {
        Goal goal = new Goal(3_000_000, 7_845_592);
        assertThat(BenchMarkdown.table(
                        List.of("gnu", "clang"),
                        List.of(
                                BenchResult.of(
                                        new Row(Kind.INSTRUCTIONS, "kws", "M4F", "gnu", goal),
                                        2_900_000,
                                        true,
                                        List.of()),
                                BenchResult.of(
                                        new Row(Kind.INSTRUCTIONS, "kws", "M4F", "clang", goal),
                                        3_138_237,
                                        true,
                                        List.of()))))
                .endsWith("---|\n| kws | M4F | 3,000,000 | 7,845,592 | **2,900,000** | 3,138,237 | 2.71, 2.50 |\n");
    }

    @Test
    void aMultipleLoadCountsEachRegister() {
        assertThat(Disassembly.items("ldmia.w r0!, {r4, r5, r6, sl, pc}")).isEqualTo(5);
        assertThat(Disassembly.items("vldmia r0!, {s0-s7}")).isEqualTo(8);
        assertThat(Disassembly.items("vpush {d8-d9}")).isEqualTo(4);
        assertThat(Disassembly.items("ldrd r0, r1, [r2, #8]")).isEqualTo(2);
        assertThat(Disassembly.items("ldrsb.w r0, [r2, #8]")).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(Io.class)
    void anImageIsMeasuredAndItsAnswersAreCompared(Io io) throws IOException {
        BenchData.Core core = BenchData.load().cores().get("M4F");
        TestToolchains.resolve("gnu", "c -mcpu=cortex-m4");
        needs("qemu-system-arm");
        needs("cc");
        List<Bytes> outputs = golden();
        Path plugin = Bench.plugin(folder);
        Setting setting = new Setting("gnu", Optimize.SPEED, io);
        // Functions and files have the name in lower case.
        BenchImage image = BenchImage.build(folder.resolve("image"), MODEL, "Gesture", core, setting, outputs.size());
        assertThat(image.forbidden()).isEmpty();
        BenchRun run = BenchRun.of(image, folder, outputs.size(), plugin);
        assertThat(run.bitExact()).isTrue();
        assertThat(run.stack()).isBetween(8L, 1024L);
        assertThat(run.ticks() * core.instructionsPerTick())
                .isBetween(run.instructions() - 100.0, run.instructions() + 100.0);
        assertThat(run.tallies())
                .hasSize(1 + image.metadata().operators().size())
                .allMatch(tally -> tally.instructions() > 0 && tally.loads() > 0 && tally.taken() > 0);
        assertThat(run.tallies().stream().mapToLong(Tally::instructions).sum()).isEqualTo(run.instructions());
        Figures figures = Figures.of(setting, image, run, true);
        assertThat(figures.ram()).isGreaterThan(image.metadata().workspaceBytes());
        assertThat(figures.flash()).isGreaterThan(image.metadata().constantBytes());
        Row row = new Row(Kind.RAM, "gesture", "M4F", "gnu", new Goal(1, 2));
        BenchResult result = BenchResult.of(row, figures.ram(), true, List.of(figures, figures));
        assertThat(result.met()).isFalse();
        assertThat(JsonSchemas.violationsOf("/io/kiln/bench/bench.schema.json", Json.text(List.of(result))))
                .isEmpty();

        byte[] wrong = outputs.get(0).toArray();
        wrong[0]++;
        Files.write(folder.resolve("output_0.bin"), wrong);
        assertThat(BenchRun.of(image, folder, outputs.size(), plugin).bitExact())
                .isFalse();
    }

    /** The example's inputs with the reference interpreter's answers. */
    private List<Bytes> golden() throws IOException {
        Function function = TfliteFrontend.read(MODEL, "gesture");
        List<Bytes> outputs = new ArrayList<>();
        for (int k = 0; Files.exists(VECTORS.resolve("input_" + k + ".bin")); k++) {
            byte[] input = Files.readAllBytes(VECTORS.resolve("input_" + k + ".bin"));
            outputs.add(Interpreter.run(function, List.of(Bytes.wrap(input))).get(0));
            Files.write(folder.resolve("input_" + k + ".bin"), input);
            Files.write(folder.resolve("output_" + k + ".bin"), outputs.get(k).toArray());
        }
        assertThat(new HashSet<>(outputs).size()).isGreaterThan(1);
        return outputs;
    }

    /** A core with its target, if its emulator and the toolchain are here; the test is skipped or fails otherwise. */
    static BenchData.Core ready(String name, String toolchain) {
        BenchData.Core core = BenchData.load().cores().get(name);
        Board board = Boards.builtIn().find(core.board());
        String target = core.target().isEmpty() ? board.target() : core.target();
        TestToolchains.resolve(toolchain, target);
        needs(((Emulation.Qemu) board.emulation()).program());
        return new BenchData.Core(core.board(), target, core.instructionsPerTick(), core.without());
    }

    static void needs(String program) {
        if (!"true".equals(System.getenv("CI"))) {
            Assumptions.assumeTrue(Executables.find(program).isPresent(), program + " is not there");
        }
    }
}
