// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.DrawnCases;
import io.kiln.base.Optimize;
import io.kiln.bench.BenchData.Core;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.tflite.single.Agreement;
import io.kiln.frontend.tflite.single.OperatorCases;
import io.kiln.frontend.tflite.single.SingleOperatorTest;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.Interpreter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * TensorFlow Lite's operators of float data on emulated cores against the reference interpreter, with inputs some of which are no numbers,
 * infinite, -0 or denormal. Each core takes its share of the operators, and all of them with {@code -Dkiln.cases}. Vectors of M55 count
 * denormal numbers as 0, so that it gets none.
 */
final class FloatOperatorsInQemuTest {
    private static final int CORES = 7;
    private static final int CASES = DrawnCases.atLeast(1);
    private static final long FIRST_SEED = Long.getLong("kiln.seed", 0);

    /** Seeds that are tried until an operator is one of floats. */
    private static final int TRIES = 12;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "0, M4F, gnu, SPEED",
        "1, M4F, clang, SIZE",
        "2, M55, gnu, SPEED",
        "3, M55, clang, SPEED",
        "4, M0, gnu, SIZE",
        "5, M0, clang, SPEED",
        "6, RV32, clang, SPEED",
    })
    void answerAsTheInterpreterDoes(int share, String coreName, String toolchain, Optimize optimize) {
        Core core = BenchTest.ready(coreName, toolchain);
        String board = core.board();
        String target = core.target();
        List<Function> functions = functions(share);
        List<ModelLibrary> models = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        for (Function function : functions) {
            CompileRequest request = RequestDraft.of(Path.of("random.tflite"), target)
                    .name(function.name())
                    .optimize(optimize)
                    .build();
            models.add(ModelCompiler.compile(request, function).library());
            inputs.addAll(inputs(function, coreName));
        }
        Bytes actual = OperatorsImage.run(folder, board, target, toolchain, optimize, models, inputs);
        assertThat(differences(functions, coreName, actual)).isEmpty();
    }

    private static List<String> differences(List<Function> functions, String core, Bytes actual) {
        List<String> differences = new ArrayList<>();
        int offset = 0;
        for (Function function : functions) {
            List<Bytes> expected = Interpreter.run(function, inputs(function, core));
            List<TensorType> types = GoldenModels.outputs(function);
            for (int i = 0; i < types.size(); i++) {
                byte[] slice = new byte[expected.get(i).size()];
                actual.buffer().get(offset, slice);
                offset += slice.length;
                String what = Agreement.difference(types.get(i).dtype(), expected.get(i), Bytes.wrap(slice));
                if (!what.isEmpty()) {
                    differences.add(function.name() + ", output " + i + ": " + what);
                }
            }
        }
        assertThat(actual.size()).isEqualTo(offset);
        return differences;
    }

    private static List<Function> functions(int share) {
        List<OperatorCases> all = SingleOperatorTest.operators().toList();
        List<Function> functions = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            if (CASES > 1 || i % CORES == share) {
                for (int drawn = 0; drawn < CASES; drawn++) {
                    ofFloats(all.get(i), FIRST_SEED + (long) drawn * TRIES).ifPresent(functions::add);
                }
            }
        }
        assertThat(functions).isNotEmpty();
        return functions;
    }

    /** The operator's first case from a seed on whose inputs are all floats, if there is one soon. */
    private static Optional<Function> ofFloats(OperatorCases operator, long seed) {
        String name = operator.name().toLowerCase(Locale.ROOT);
        return LongStream.range(seed, seed + TRIES)
                .mapToObj(each -> operator.function(each, TfliteRounding.MICRO, name + "_" + each))
                .filter(function -> !function.params().isEmpty()
                        && function.params().stream().allMatch(p -> p.type().dtype() == DType.FLOAT32))
                .findFirst();
    }

    private static List<Bytes> inputs(Function function, String core) {
        List<Bytes> inputs = new ArrayList<>();
        for (Parameter parameter : function.params()) {
            long seed = function.name().hashCode() * 31L + inputs.size();
            Bytes drawn = RandomOperators.special(parameter.type(), seed);
            inputs.add(core.equals("M55") ? withoutDenormals(drawn) : drawn);
        }
        return inputs;
    }

    private static Bytes withoutDenormals(Bytes floats) {
        ByteBuffer data = ByteBuffer.wrap(floats.toArray()).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at < data.capacity(); at += Float.BYTES) {
            if (Math.abs(data.getFloat(at)) < Float.MIN_NORMAL) {
                data.putFloat(at, Math.copySign(0f, data.getFloat(at)));
            }
        }
        return Bytes.wrap(data.array());
    }
}
