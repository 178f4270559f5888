// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.lower.RandomOperators;
import io.kiln.reference.Interpreter;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Micro-kernels on the cores for which they are written, against the reference interpreter: dozens of operators in one image. */
final class RandomOperatorsInQemuTest {
    private static final int OPERATORS = 24;

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "mps3-an547, gnu, SPEED, mve_",
        "mps3-an547, clang, SPEED, mve_",
        "mps3-an547, gnu, SPEED, mve_conv16",
        "mps3-an547, clang, SPEED, mve_conv16",
        "mps3-an547, gnu, SPEED, mve_conv_float",
        "mps3-an547, clang, SPEED, mve_conv_float",
        "mps3-an547, gnu, SPEED, mve_depthwise_float",
        "mps2-an386, gnu, SPEED, dsp_conv16",
        "mps2-an386, gnu, SPEED, 'depthwise_direct(unrolled=true, pixel_block'",
        "mps2-an386, gnu, SPEED, dsp_",
        "mps2-an386, clang, SPEED, dsp_",
        "mps2-an386, gnu, SIZE, conv_blocked",
        "mps2-an385, gnu, SPEED, _blocked",
        "mps2-an385, clang, SPEED, _blocked",
        "qemu-riscv32, gnu, SPEED, _blocked",
        "qemu-riscv32, clang, SPEED, _blocked",
        "mps2-an386, gnu, SIZE, weight_bits=4",
        "mps2-an385, gnu, SPEED, weight_bits=4",
        "mps2-an385, clang, SIZE, weight_bits=4",
        "qemu-riscv32, clang, SIZE, weight_bits=4",
    })
    void answerAsTheInterpreterDoes(String board, String toolchain, Optimize optimize, String schedules) {
        String target = Boards.builtIn().find(board).target();
        TestToolchains.resolve(toolchain, target);
        BenchTest.needs(((Emulation.Qemu) Boards.builtIn().find(board).emulation()).program());
        List<ModelLibrary> models = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        List<Bytes> expected = new ArrayList<>();
        for (long seed = 20_000; models.size() < OPERATORS; seed++) {
            Function drawn = RandomOperators.mixed(seed);
            Function function = schedules.contains("bits=4") ? RandomOperators.ofFourBits(drawn) : drawn;
            CompileRequest request = CompileRequest.builder(Path.of("random"), target)
                    .name(function.name())
                    .optimize(optimize)
                    .build();
            ModelLibrary library = ModelCompiler.compile(request, function).library();
            if (library.metadata().operators().stream()
                    .anyMatch(o -> o.schedule().contains(schedules))) {
                List<Bytes> own = new ArrayList<>();
                for (Parameter parameter : function.params()) {
                    own.add(RandomOperators.input(parameter.type(), seed * 31 + own.size()));
                }
                models.add(library);
                inputs.addAll(own);
                expected.add(Interpreter.run(function, own).get(0));
            }
        }
        Bytes actual = OperatorsImage.run(folder, board, toolchain, optimize, models, inputs);
        int offset = 0;
        for (int i = 0; i < models.size(); i++) {
            byte[] slice = new byte[expected.get(i).size()];
            actual.buffer().get(offset, slice);
            offset += slice.length;
            ModelMetadata metadata = models.get(i).metadata();
            String what = metadata.name() + " " + metadata.operators().get(0).schedule();
            if (metadata.outputs().get(0).dtype().isFloat()) {
                assertClose(what, Bytes.wrap(slice), expected.get(i));
            } else {
                assertThat(Bytes.wrap(slice)).as(what).isEqualTo(expected.get(i));
            }
        }
        assertThat(actual.size()).isEqualTo(offset);
    }

    /** Float answers may differ as much as those of golden models. */
    private static void assertClose(String what, Bytes actual, Bytes expected) {
        for (int at = 0; at < expected.size(); at += Float.BYTES) {
            float value = expected.buffer().getFloat(at);
            assertThat(actual.buffer().getFloat(at)).as(what).isCloseTo(value, within(1e-5f + 1e-4f * Math.abs(value)));
        }
    }
}
