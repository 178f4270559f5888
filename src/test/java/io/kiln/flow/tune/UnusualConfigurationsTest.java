// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.DType;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.device.emulator.Emulator;
import io.kiln.draw.RandomLayers;
import io.kiln.draw.RandomOperators;
import io.kiln.flow.GestureProject;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.resolve.Resolver;
import io.kiln.flow.tune.CandidateMeasurer.Candidate;
import io.kiln.flow.tune.CandidateMeasurer.EmulatorRunner;
import io.kiln.flow.tune.CandidateMeasurer.Measured;
import io.kiln.ir.Function;
import io.kiln.process.TestPrograms;
import io.kiln.schedule.LayerChoices;
import io.kiln.schedule.space.Configuration;
import io.kiln.target.Target;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.transform.Pipeline;
import io.kiln.tuning.task.LayerTask;
import io.kiln.tuning.task.Objective.Metric;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Configurations that no rule chooses answer as the reference interpreter on the core itself, in the assembly that the host does not run: of
 * random layers, one image for each core; of many more with {@code -Dkiln.configurations=all}, and of others with {@code -Dkiln.seed}.
 */
class UnusualConfigurationsTest {
    private static final boolean ALL = "all".equals(System.getProperty("kiln.configurations"));

    /** Layers of each kind of configuration. */
    private static final int LAYERS = ALL ? 4 : 1;

    /** Knobs of floats whose values are not told apart. */
    private static final List<String> UNSHOWN = List.of("unfused", "unroll");

    private static final int SEEDS = ALL ? 600 : 60;
    private static final long FIRST_SEED = Long.getLong("kiln.seed", 0);

    @TempDir
    private Path folder;

    @BeforeEach
    void needsAnEmulator() {
        TestPrograms.need("qemu-system-arm");
    }

    /** The knobs that are set, a kind of configuration; of floats with most values, of all configurations with short values, too. */
    private static String kind(Configuration configuration) {
        boolean isFloat = List.of("fpu_conv", "mve_conv_float").contains(configuration.schedule());
        List<String> knobs = configuration.settings().stream()
                .map(setting -> {
                    boolean isShort = setting.value().length() == 1;
                    boolean isShown = (ALL && isShort) || (isFloat && !UNSHOWN.contains(setting.knob()));
                    return setting.knob() + (isShown ? setting.value() : "");
                })
                .toList();
        return configuration.schedule() + knobs;
    }

    private static boolean isUnusual(Configuration configuration) {
        boolean isMany = configuration.schedule().equals("mve_gemm") && configuration.number("unroll") > 9;
        boolean isOrdered = configuration.schedule().equals("dsp_conv16") && configuration.isOn("unroll");
        boolean isSpread = configuration.schedule().equals("fpu_conv")
                && configuration.settings().size() > 2;
        return isMany
                || isOrdered
                || isSpread
                || configuration.isOn("pipelined")
                || configuration.isOn("whole_windows")
                || configuration.isOn("paired_loads")
                || configuration.isOn("paired_words")
                || configuration.isOn("proven_rescale")
                || configuration.isOn("weight_pairs");
    }

    private static Stream<LayerTask> layers(Function drawn, Target target) {
        Function function = Pipeline.standard().run(drawn);
        return LayerTask.of(function, target, Optimize.SPEED, Metric.INSTRUCTIONS, LayerChoices.RULES).stream();
    }

    private static List<Candidate> candidates(Target target) {
        Map<String, Integer> known = new TreeMap<>();
        List<Candidate> candidates = new ArrayList<>();
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
            Function integers = seed % 2 == 0 ? RandomOperators.next(seed) : RandomLayers.next(seed);
            Stream<Function> drawn =
                    seed % 3 == 0 ? Stream.of(integers, RandomOperators.ofFloats(seed)) : Stream.of(integers);
            List<LayerTask> tasks =
                    drawn.flatMap(function -> layers(function, target)).toList();
            for (LayerTask task : tasks) {
                List<Configuration> unusual = task.space().configurations().stream()
                        .filter(UnusualConfigurationsTest::isUnusual)
                        .filter(configuration -> known.getOrDefault(kind(configuration), 0) < LAYERS)
                        .toList();
                unusual.forEach(configuration -> {
                    known.merge(kind(configuration), 1, Integer::sum);
                    candidates.add(new Candidate(task, configuration));
                });
            }
        }
        return candidates;
    }

    private ResolvedBuild resolved(String board, String toolchain) {
        return new Resolver(TestToolchains.environment(Log.QUIET))
                .resolve(new GestureProject(folder)
                        .spec(board)
                        .toolchain(Optional.of(toolchain))
                        .verify(GestureProject.UNVERIFIED)
                        .build());
    }

    @ParameterizedTest
    @CsvSource({
        "mps2-an386, conv_direct dsp_dense dsp_conv dsp_depthwise dsp_conv16 fpu_conv",
        "mps3-an547, mve_gemm mve_conv16 mve_conv_float dsp_conv16",
        "mps2-an385, conv_direct conv_blocked",
        "qemu-riscv32, conv_direct conv_blocked"
    })
    void theyAnswerAsTheReference(String board, String schedules) {
        ResolvedBuild build = resolved(board, "clang");
        List<Candidate> candidates = candidates(Target.parse(build.target()));
        // What other seeds draw may lack a schedule.
        assertThat(candidates)
                .extracting(candidate -> candidate.configuration().schedule())
                .containsAll(FIRST_SEED == 0 ? List.of(schedules.split(" ", -1)) : List.of());
        assertThat(candidates)
                .extracting(candidate -> candidate.task().workload().conv().dataType())
                .contains(DType.INT8);
        assertRight(build, candidates);
    }

    /** Four floats 128 bytes apart: compilers that compute four pixels at once step 512 bytes, more than an offset of MVE's loads holds. */
    @ParameterizedTest
    @ValueSource(strings = {"clang", "gnu"})
    void plainLoopsOfPixelsFarApartAnswerAsTheReference(String toolchain) {
        ResolvedBuild build = resolved("mps3-an547", toolchain);
        List<Candidate> candidates = layers(RandomOperators.ofManyFloats(1), Target.parse(build.target()))
                .flatMap(task -> task.space().configurations().stream()
                        .filter(configuration -> configuration.schedule().equals("conv_direct"))
                        .filter(configuration -> configuration.number("pixel_block", 1) == 1)
                        .map(configuration -> new Candidate(task, configuration)))
                .toList();
        assertThat(candidates).hasSizeGreaterThan(20);
        assertRight(build, candidates);
    }

    /** Kernels that are written for one number of taps: with and without a loop, entered at each of its steps. */
    @Test
    void interleavedBlocksOfAnyNumberOfTapsAnswerAsTheReference() {
        ResolvedBuild build = resolved("mps2-an385", "clang");
        Target target = Target.parse(build.target());
        List<Integer> taps = List.of(1, 2, 8, 9, 10, 11, 13, 15, 16, 17, 4095);
        List<Candidate> candidates = taps.stream()
                .flatMap(t -> LongStream.range(0, 3)
                        .boxed()
                        .flatMap(seed -> layers(RandomOperators.pointwise(seed, t), target)))
                .flatMap(task -> task.space().configurations().stream()
                        .filter(configuration -> configuration.isOn("interleaved")
                                && (!configuration.isOn("rescaled_apart") || configuration.isOn("weight_pairs")))
                        .map(configuration -> new Candidate(task, configuration)))
                .toList();
        assertThat(candidates)
                .extracting(candidate -> candidate.task().workload().conv().taps())
                .containsAll(taps);
        assertThat(candidates)
                .filteredOn(candidate -> candidate.configuration().isOn("weight_pairs"))
                .hasSizeGreaterThan(taps.size());
        assertRight(build, candidates);
    }

    private void assertRight(ResolvedBuild build, List<Candidate> candidates) {
        CompiledModel model = ModelCompiler.compile(
                RequestDraft.of(GestureProject.MODEL, build.target()).build());
        Board runsOn = build.runsOn().orElseThrow();
        EmulatorRunner runner = new EmulatorRunner(Emulator.of(runsOn, Duration.ofMinutes(1)), Optional.empty());
        CandidateMeasurer measurer = new CandidateMeasurer(
                build, runner, runsOn, model.library().metadata(), folder.resolve("candidates"), 7);
        List<Measured> measured = measurer.measure(candidates);
        for (int i = 0; i < measured.size(); i++) {
            Candidate candidate = candidates.get(i);
            assertThat(measured.get(i).isRight())
                    .as(candidate.task().op().op() + " "
                            + candidate.task().op().type().text() + " "
                            + candidate.configuration().text() + ": "
                            + measured.get(i).error())
                    .isTrue();
        }
    }
}
