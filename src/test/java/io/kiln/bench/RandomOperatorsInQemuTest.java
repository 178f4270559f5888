// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.DrawnCases;
import io.kiln.base.Optimize;
import io.kiln.bench.BenchData.Core;
import io.kiln.compile.CompileOptions.RamOptions;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.draw.RandomOperators;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.op.Trait;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.Interpreter;
import io.kiln.schedule.Dispatch;
import io.kiln.schedule.GoalMix;
import io.kiln.schedule.ScheduleNames;
import io.kiln.target.CpuFeatures;
import io.kiln.target.Target;
import io.kiln.transform.Pipeline;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Micro-kernels on the cores for which they are written, against the reference interpreter: dozens of operators in one image. {@code -Dkiln.cases} and {@code -Dkiln.seed} take others. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class RandomOperatorsInQemuTest {
    private static final int OPERATORS = DrawnCases.atLeast(24);
    /** What it draws needs all corrections. */
    private static final long USUAL_SEED = 20_000;

    private static final long FIRST_SEED = Long.getLong("kiln.seed", USUAL_SEED);

    /** A schedule that none of so many operators takes is one that nothing takes any more. */
    private static final long MOST_DRAWS = 20_000;

    private final Map<RandomForm, Drawn> drawn = new EnumMap<>(RandomForm.class);
    private final Map<Draws.Key, Draws> known = new HashMap<>();

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "M55, gnu, SPEED, mve_, ANY",
        "M55, clang, SPEED, mve_, ANY",
        "M55, gnu, SPEED, mve_depthwise_tile, DEPTHWISE",
        "M55, clang, SPEED, mve_depthwise_tile, FAR_PADDED",
        "M55, gnu, SPEED, mve_depthwise(, ANY",
        "M55, clang, SPEED, mve_depthwise(, DEPTHWISE",
        "M55, gnu, SPEED, mve_conv16, ANY",
        "M55, clang, SPEED, mve_conv16, ANY",
        "M55, gnu, SPEED, mve_conv_float, FLOATS",
        "M55, clang, SPEED, mve_conv_float, FLOATS",
        "M55, gnu, SPEED, mve_depthwise_float, FLOATS",
        "M55, clang, SPEED, mve_depthwise_float, FLOATS",
        "M4F, gnu, SPEED, dsp_conv16, ANY",
        "M3, gnu, SPEED, conv16, ANY",
        "M0, clang, SPEED, conv16, ANY",
        "RV32, gnu, SPEED, conv16, ANY",
        "M4F, clang, SIZE, dsp_conv16_bytes, INT16",
        "M4F, gnu, SIZE, dsp_conv16_bytes, TRANSPOSED_WIDE",
        "M55, gnu, SIZE, mve_conv16, INT16",
        "M0, gnu, SIZE, conv16, INT16",
        "M4F, gnu, SPEED, dsp_conv16, TRANSPOSED_WIDE",
        "M55, clang, SPEED, mve_conv16, TRANSPOSED_WIDE",
        "M3, clang, SPEED, conv16, TRANSPOSED_WIDE",
        "M0, gnu, SPEED, conv16, TRANSPOSED_WIDE",
        "RV32, clang, SPEED, conv16, TRANSPOSED_WIDE",
        "M4F, clang, SPEED, conv_phases, TRANSPOSED",
        "M4F, gnu, SIZE, conv_phases, TRANSPOSED",
        "M55, gnu, SPEED, conv_phases, TRANSPOSED",
        "M3, gnu, SPEED, conv_phases, TRANSPOSED",
        "M0, clang, SPEED, conv_phases, TRANSPOSED",
        "M4F, gnu, SPEED, fpu_conv, FLOATS",
        "M4F, clang, SPEED, fpu_conv, FLOATS",
        "M4F, gnu, SPEED, fpu_depthwise, FLOATS",
        "M3, gnu, SPEED, soft_, FLOATS",
        "M0, clang, SPEED, soft_, FLOATS",
        "RV32, clang, SPEED, soft_, FLOATS",
        "M3, clang, SPEED, soft_depthwise, FLOATS",
        "M0, gnu, SPEED, soft_depthwise, FLOATS",
        "RV32, gnu, SPEED, soft_depthwise, FLOATS",
        "M3, gnu, SPEED, soft_conv, GROUPED_FLOATS",
        "M0, clang, SPEED, soft_conv, GROUPED_FLOATS",
        "RV32, gnu, SPEED, soft_conv, GROUPED_FLOATS",
        "M4F, gnu, SPEED, 'depthwise_direct(unrolled=true, pixel_block', WIDE",
        "M55, gnu, SPEED, mve_depthwise16, WIDE",
        "M55, clang, SPEED, mve_depthwise16, WIDE",
        "M4F, gnu, SPEED, dsp_depthwise16, WIDE",
        "M4F, clang, SPEED, dsp_depthwise16, WIDE",
        "M3, gnu, SPEED, thumb_depthwise16, WIDE",
        "M3, clang, SPEED, thumb_depthwise16, WIDE",
        "M0, gnu, SPEED, depthwise16, WIDE",
        "M0, clang, SPEED, depthwise16, WIDE",
        "RV32, clang, SPEED, depthwise16, WIDE",
        "M3, clang, SPEED, depthwise_blocked, DEPTHWISE",
        "M0, gnu, SPEED, depthwise_blocked, DEPTHWISE",
        "RV32, gnu, SPEED, depthwise_blocked, DEPTHWISE",
        "RV32, clang, SIZE, depthwise_small, DEPTHWISE",
        "M55, gnu, SPEED, mve_sum16, SHORTS",
        "M55, clang, SPEED, mve_slopes, SHORTS",
        "M4F, gnu, SPEED, dsp_sum16, SHORTS",
        "M4F, clang, SPEED, dsp_sum16, SHORTS",
        "M4F, gnu, SPEED, dsp_slopes, SHORTS",
        "M4F, clang, SIZE, dsp_slopes, SHORTS",
        "M0, gnu, SPEED, thumb_sum16, SHORTS",
        "M0, clang, SPEED, thumb_sum16, SHORTS",
        "RV32, gnu, SPEED, riscv_sum16, SHORTS",
        "RV32, clang, SPEED, riscv_sum16, SHORTS",
        "RV32, clang, SPEED, riscv_sum16_channel, SHORTS",
        "RV32, gnu, SPEED, riscv_slopes, SHORTS",
        "RV32, clang, SIZE, riscv_slopes, SHORTS",
        "RV32, gnu, SPEED, riscv_sum(, BYTE_SUMS",
        "RV32, clang, SIZE, riscv_sum(, BYTE_SUMS",
        "M4F, gnu, SPEED, dsp_, ANY",
        "M4F, clang, SPEED, dsp_, ANY",
        "M4F, gnu, SPEED, dsp_depthwise_line, ANY",
        "M4F, clang, SPEED, dsp_depthwise_line, DEPTHWISE",
        "M4F, gnu, SPEED, dsp_depthwise_line, HARD_DEPTHWISE",
        "M4F1K, clang, SPEED, dsp_depthwise_line, FAR_PADDED",
        "M4F, gnu, SPEED, dsp_, HARD",
        "M4F, clang, SPEED, dsp_winograd, HARD",
        "M4F, clang, SPEED, dsp_, HARD",
        "M4F, gnu, SPEED, dsp_, HARD_ONNX_RUNTIME",
        "M4F, gnu, SIZE, _shared, ANY",
        "M4F, clang, SIZE, _shared, ANY",
        "M4F, gnu, SIZE, _shared, ONNX_RUNTIME",
        "M4F, gnu, SIZE, dsp_dense_shared, DENSE",
        "M4F, clang, SIZE, dsp_dense_shared, DENSE",
        "M4F, gnu, SPEED, dsp_dense, DENSE_CROSSED",
        "M3, gnu, SPEED, _blocked, ANY",
        "M3, clang, SPEED, _blocked, ANY",
        "RV32, gnu, SPEED, _blocked, ANY",
        "RV32, clang, SPEED, _blocked, ANY",
        "M4F, gnu, SIZE, weight_bits=4, FOUR_BITS",
        "M4F, clang, SPEED, 'dsp_conv(pixels=2, channel_block=4, unroll=16, weight_bits', FOUR_BITS",
        "M4F1K, gnu, SPEED, 'short_code, weight_bits=4', FOUR_BITS",
        "M55, gnu, SPEED, 'pipelined, weight_bits=4', FOUR_BITS",
        "M4F, gnu, SPEED, dense_four_bits, FOUR_BITS_DENSE",
        "M4F, clang, SIZE, dense_four_bits, FOUR_BITS_DENSE",
        "M55, gnu, SPEED, weight_bits=4, FOUR_BITS_DENSE",
        "M55, clang, SIZE, weight_bits=4, FOUR_BITS_DENSE",
        "M3, clang, SPEED, dense_four_bits, FOUR_BITS_DENSE",
        "M0, clang, SPEED, dense_four_bits, FOUR_BITS_DENSE",
        "RV32, clang, SPEED, dense_four_bits, FOUR_BITS_DENSE",
        "M3, gnu, SPEED, weight_bits=4, FOUR_BITS",
        "M3, clang, SIZE, weight_bits=4, FOUR_BITS",
        "RV32, clang, SPEED, weight_bits=4, FOUR_BITS",
        "M3, gnu, SPEED, _blocked, ONNX_RUNTIME",
        "M3, clang, SIZE, depthwise_small, ONNX_RUNTIME_FEW",
        "M3, gnu, SIZE, conv_blocked, ANY",
        "M3, clang, SIZE, conv_blocked, DENSE",
        "M0, gnu, SIZE, depthwise_small, ANY",
        "RV32, gnu, SIZE, depthwise_small, ANY",
        "M0, gnu, SPEED, conv_blocked, ONNX_RUNTIME",
        "M0, gnu, SPEED, _blocked, ANY",
        "M0, clang, SPEED, _blocked, ANY",
        "M0, gnu, SPEED, weight_bits=4, FOUR_BITS",
        "RV32, gnu, SPEED, _blocked, ONNX_RUNTIME",
        "M0, clang, SPEED, depthwise_blocked, ONNX_RUNTIME_FEW",
        "M55, gnu, SPEED, mve_gemm, ONNX_RUNTIME_CENTRED",
        "M55, clang, SPEED, mve_depthwise, ONNX_RUNTIME_CENTRED",
        "M4F, gnu, SIZE, dsp_depthwise_shared, FAR_PADDED",
        "M4F, gnu, SPEED, dsp_, FAR_PADDED",
        "M55, gnu, SPEED, mve_, FAR_PADDED",
        "M3, gnu, SPEED, _blocked, FAR_PADDED",
        "M4F1K, gnu, SPEED, short_code, ANY",
        "M4F1K, clang, SPEED, short_code, ANY",
        "M4F1K, gnu, SPEED, short_code, HARD",
        "M4F1K, gnu, SPEED, 'dsp_conv(pixels=2, channel_block=4, tile', MANY_WEIGHTS",
        "M4F1K, clang, SPEED, 'dsp_winograd(pixels=4, channel_block=4, tile', MANY_WEIGHTS",
        "M4F4K, gnu, SPEED, tile=, MANY_WEIGHTS",
        "M4F1K, clang, SPEED, tile=, LARGE_SEPARABLE",
        "M4F4K, gnu, SPEED, tile=, LARGE_SEPARABLE",
        "M4F1K, gnu, SPEED, dsp_dense, DENSE_CROSSED",
        "M4F1K, gnu, SPEED, dsp_, FAR_PADDED",
    })
    void answerAsTheInterpreterDoes(
            String coreName, String toolchain, Optimize optimize, String schedules, RandomForm form) {
        Core core = BenchTest.ready(coreName, toolchain);
        String board = core.board();
        String target = core.target();
        List<ModelLibrary> models = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        List<Bytes> expected = new ArrayList<>();
        Drawn operators = drawn.computeIfAbsent(form, Drawn::new);
        Draws draws = known.computeIfAbsent(new Draws.Key(target, optimize, form), key -> new Draws(key, operators));
        for (long seed = FIRST_SEED; models.size() < OPERATORS; seed++) {
            assertThat(seed - FIRST_SEED)
                    .as("draws that were looked at for %s", schedules)
                    .isLessThan(MOST_DRAWS);
            if (draws.has(seed, schedules)) {
                Function function = form.function(seed);
                List<Bytes> own = new ArrayList<>();
                for (Parameter parameter : function.params()) {
                    long inputSeed = seed * 31 + own.size();
                    Bytes drawn = form.isSpecial(seed)
                            ? RandomOperators.special(parameter.type(), inputSeed)
                            : RandomOperators.input(parameter.type(), inputSeed);
                    own.add(form.isExtreme(seed) ? extreme(form, drawn) : drawn);
                }
                models.add(draws.compiled(seed));
                inputs.addAll(own);
                expected.add(Interpreter.run(function, own).get(0));
            }
        }
        assertThat(corrections(models)).containsAll(FIRST_SEED == USUAL_SEED ? form.corrections() : List.of());
        Bytes actual = OperatorsImage.run(folder, board, target, toolchain, optimize, models, inputs);
        int offset = 0;
        for (int i = 0; i < models.size(); i++) {
            byte[] slice = new byte[expected.get(i).size()];
            actual.buffer().get(offset, slice);
            offset += slice.length;
            ModelMetadata metadata = models.get(i).metadata();
            String what = metadata.name() + " " + metadata.operators().get(0).schedule();
            assertThat(GoldenModels.agree(expected.get(i), Bytes.wrap(slice), GoldenModels.outputs(metadata)))
                    .as(what)
                    .isTrue();
        }
        assertThat(actual.size()).isEqualTo(offset);
    }

    private static Bytes extreme(RandomForm form, Bytes drawn) {
        return form.isFloat() ? withNotANumber(drawn) : withLimits(drawn);
    }

    /** NaN of negative sign as the first element, infinity as the last. */
    private static Bytes withNotANumber(Bytes floats) {
        ByteBuffer data = ByteBuffer.wrap(floats.toArray()).order(ByteOrder.LITTLE_ENDIAN);
        data.putInt(0, 0xFFC0_0000);
        data.putFloat(data.capacity() - Float.BYTES, Float.POSITIVE_INFINITY);
        return Bytes.wrap(data.array());
    }

    /** The least int16 as the first element, the largest one as the second and the last. */
    private static Bytes withLimits(Bytes shorts) {
        ByteBuffer data = ByteBuffer.wrap(shorts.toArray()).order(ByteOrder.LITTLE_ENDIAN);
        data.putShort(data.capacity() - Short.BYTES, Short.MAX_VALUE);
        data.putShort(Math.min(Short.BYTES, data.capacity() - Short.BYTES), Short.MAX_VALUE);
        data.putShort(0, Short.MIN_VALUE);
        return Bytes.wrap(data.array());
    }

    /** The corrections that kernels compute, whether they add inputs to weights, and whether their weights are bytes or words. */
    private static Set<String> corrections(List<ModelLibrary> models) {
        Pattern called = Pattern.compile("kiln_\\w+\\(");
        Pattern part = Pattern.compile(
                "_odd|_even|_listed|_twice|_steps|_started_signed|_started|_signed|_floor|_crossed_bytes|_crossed|_bytes|_line(?!\\w*_bytes)");
        return models.stream()
                .flatMap(model -> model.artifacts().of(ArtifactKind.SOURCE).stream())
                .flatMap(source -> called.matcher(source.content().text()).results())
                .flatMap(kernel -> part.matcher(kernel.group()).results())
                .map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Operators of a form, which all targets share. */
    private static final class Drawn {
        private final RandomForm form;
        private final List<List<DrawnOperator>> operators = new ArrayList<>();

        Drawn(RandomForm form) {
            this.form = form;
        }

        /** The operators that compute something. */
        List<DrawnOperator> operators(long seed) {
            while (operators.size() <= seed - FIRST_SEED) {
                Function function = Pipeline.standard().run(form.function(FIRST_SEED + operators.size()));
                operators.add(FusedOperator.all(function, "drawn").stream()
                        .filter(op -> !op.root().op().has(Trait.VIEW))
                        .map(DrawnOperator::of)
                        .toList());
            }
            return operators.get((int) (seed - FIRST_SEED));
        }
    }

    /**
     * An operator, and what it computes if there are schedules to choose from: proving that its rescaling is exact takes longer than
     * choosing one.
     */
    private record DrawnOperator(FusedOperator fused, Optional<ConvComputation> layer) {
        static DrawnOperator of(FusedOperator fused) {
            return new DrawnOperator(
                    fused, Dispatch.hasChoice(fused) ? Optional.of(ConvComputation.of(fused)) : Optional.empty());
        }
    }

    /** What becomes of them for a target and a way to optimize; rows of the table share it. */
    private static final class Draws {
        private final Key key;
        private final Drawn drawn;
        private final CpuFeatures features;
        private final Dispatch dispatch;
        private final List<List<String>> schedules = new ArrayList<>();
        private final Map<Long, ModelLibrary> libraries = new HashMap<>();

        record Key(String target, Optimize optimize, RandomForm form) {}

        Draws(Key key, Drawn drawn) {
            this.key = key;
            this.drawn = drawn;
            Target target = Target.parse(key.target());
            this.features = target.features();
            this.dispatch = new Dispatch(target, key.optimize());
        }

        ModelLibrary compiled(long seed) {
            return libraries.computeIfAbsent(seed, s -> {
                Function function = key.form().function(s);
                // By itself a layer gets no tiles, whose scratch would be larger than its tensors.
                GoalMix asInLargeModels = new GoalMix(key.optimize(), Collections.emptySortedMap());
                CompileRequest request = RequestDraft.of(Path.of("random"), key.target())
                        .name(function.name())
                        .optimize(key.optimize(), asInLargeModels)
                        .ram(key.form().spare(), s % 4 == 0 ? RamOptions.ALL : RamOptions.AUTO)
                        .build();
                return ModelCompiler.compile(request, function).library();
            });
        }

        private String schedule(DrawnOperator op) {
            return op.layer()
                    .map(layer -> ScheduleNames.of(op.fused(), layer, features, key.optimize()))
                    .orElseGet(() -> dispatch.lower(op.fused()).schedule());
        }

        /** Whether a schedule is used; for most operators only the choice is made, and those that are taken are compiled. */
        boolean has(long seed, String schedule) {
            while (schedules.size() <= seed - FIRST_SEED) {
                schedules.add(drawn.operators(FIRST_SEED + schedules.size()).stream()
                        .map(this::schedule)
                        .toList());
            }
            return schedules.get((int) (seed - FIRST_SEED)).stream().anyMatch(s -> s.contains(schedule))
                    && compiled(seed).metadata().operators().stream()
                            .anyMatch(o -> o.schedule().contains(schedule))
                    && (!key.form().isByRows() || runsByRows(compiled(seed)));
        }

        private static boolean runsByRows(ModelLibrary library) {
            return library.artifacts().of(ArtifactKind.SOURCE).stream()
                    .anyMatch(source -> source.content().text().contains("row_begin"));
        }
    }
}
