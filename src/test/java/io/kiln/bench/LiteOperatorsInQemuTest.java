// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.DrawnCases;
import io.kiln.base.Optimize;
import io.kiln.bench.BenchData.Core;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.tflite.single.OperatorCases;
import io.kiln.frontend.tflite.single.SingleOperatorTest;
import io.kiln.ir.Function;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.Interpreter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Operators of TensorFlow Lite that TensorFlow Lite Micro lacks, or has for fewer types, on emulated cores against the reference interpreter,
 * whose answers are TensorFlow Lite's. Integers are equal. Each core takes its share, and all of them with {@code -Dkiln.cases}; {@link
 * FloatOperatorsInQemuTest} has floats.
 */
final class LiteOperatorsInQemuTest {
    private static final int CORES = 4;
    private static final int CASES = DrawnCases.atLeast(2);
    private static final long FIRST_SEED = Long.getLong("kiln.seed", 0);

    @TempDir
    private Path folder;

    private record Drawn(Function function, List<Bytes> inputs) {}

    @ParameterizedTest
    @CsvSource({"0, M4F, clang, SPEED", "1, M55, gnu, SPEED", "2, M0, gnu, SIZE", "3, RV32, clang, SPEED"})
    void answerAsTheInterpreterDoes(int share, String coreName, String toolchain, Optimize optimize) {
        Core core = BenchTest.ready(coreName, toolchain);
        String board = core.board();
        String target = core.target();
        List<Drawn> all = drawn(share);
        List<ModelLibrary> models = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        for (Drawn each : all) {
            CompileRequest request = RequestDraft.of(Path.of("random.tflite"), target)
                    .name(each.function.name())
                    .optimize(optimize)
                    .build();
            models.add(ModelCompiler.compile(request, each.function).library());
            inputs.addAll(each.inputs);
        }
        Bytes actual = OperatorsImage.run(folder, board, target, toolchain, optimize, models, inputs);
        assertThat(wrong(all, actual)).isEmpty();
    }

    private static List<Drawn> drawn(int share) {
        List<OperatorCases> operators = SingleOperatorTest.ofLite().toList();
        List<Drawn> all = new ArrayList<>();
        for (int i = 0; i < operators.size(); i++) {
            OperatorCases operator = operators.get(i);
            for (long seed = FIRST_SEED; seed < FIRST_SEED + 2L * CASES; seed++) {
                boolean isMine = CASES > 2 || (i + seed) % CORES == share;
                String name = operator.name().toLowerCase(Locale.ROOT) + "_" + seed;
                Function function = operator.function(seed, TfliteRounding.MICRO, name);
                if (isMine && isOfIntegers(function)) {
                    all.add(new Drawn(function, operator.inputs(seed)));
                }
            }
        }
        assertThat(all).hasSizeGreaterThan(12);
        return all;
    }

    private static boolean isOfIntegers(Function function) {
        return !function.params().isEmpty()
                && GoldenModels.outputs(function).stream()
                        .noneMatch(type -> type.dtype().isFloat());
    }

    private static List<String> wrong(List<Drawn> all, Bytes actual) {
        List<String> wrong = new ArrayList<>();
        int offset = 0;
        for (Drawn each : all) {
            List<Bytes> expected = Interpreter.run(each.function, each.inputs);
            List<TensorType> types = GoldenModels.outputs(each.function);
            for (int i = 0; i < types.size(); i++) {
                byte[] slice = new byte[expected.get(i).size()];
                actual.buffer().get(offset, slice);
                offset += slice.length;
                if (!Bytes.wrap(slice).equals(expected.get(i))) {
                    wrong.add(each.function.name() + ", output " + i);
                }
            }
        }
        assertThat(actual.size()).isEqualTo(offset);
        return wrong;
    }
}
