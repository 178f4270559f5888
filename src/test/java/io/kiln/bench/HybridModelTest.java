// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.Interpreter;
import io.kiln.reference.NeedsShared;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The golden model of float activations and int8 weights, which the reference kernels refuse. It has to answer what the same model answers
 * with the weights as floats, scale times integer, in the interpreter.
 */
@NeedsShared("golden")
class HybridModelTest {
    private static final String MODEL = "kws_ref_model_float32";
    private static final String BOARD = "mps2-an386";
    private static final String TARGET = Boards.builtIn().find(BOARD).target();

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(Optimize.class)
    void answersOnTheHostAsWithFloatWeights(Optimize optimize) {
        Function real = withFloatWeights();
        ModelLibrary library = library(optimize);
        HostProgram program = HostProgram.build(
                folder, List.of(library.metadata()), List.of(library.artifacts().artifacts()));
        for (Bytes input : inputs()) {
            Bytes expected = Interpreter.run(real, List.of(input)).get(0);
            assertThat(GoldenModels.agree(expected, program.run(List.of(input)), GoldenModels.outputs(real)))
                    .isTrue();
        }
    }

    @Test
    void answersInQemuAsWithFloatWeights() {
        Function real = withFloatWeights();
        TestToolchains.resolve("gnu", TARGET);
        BenchTest.needs("qemu-system-arm");
        Bytes input = inputs().get(1);
        Bytes actual = OperatorsImage.run(
                folder, BOARD, "gnu", Optimize.SPEED, List.of(library(Optimize.SPEED)), List.of(input));
        assertThat(GoldenModels.agree(Interpreter.run(real, List.of(input)).get(0), actual, GoldenModels.outputs(real)))
                .isTrue();
    }

    private static ModelLibrary library(Optimize optimize) {
        return ModelCompiler.compile(RequestDraft.of(GoldenModels.model(MODEL), TARGET)
                        .name("hybrid")
                        .optimize(optimize)
                        .build())
                .library();
    }

    private static Function withFloatWeights() {
        Function function = TfliteFrontend.read(GoldenModels.model(MODEL), "hybrid");
        List<Binding> bindings = new ArrayList<>();
        int changed = 0;
        for (Binding binding : function.bindings()) {
            boolean isHybrid = binding.op() instanceof QnnConv2d;
            bindings.add(isHybrid ? real(binding) : binding);
            changed += isHybrid ? 1 : 0;
        }
        assertThat(changed).isEqualTo(5);
        Function real = function.withBindings(bindings);
        Verifier.verify(real);
        return real;
    }

    private static Binding real(Binding hybrid) {
        QnnConv2d conv = (QnnConv2d) hybrid.op();
        Constant weight = hybrid.constant(1);
        Constant scale = hybrid.constant(5);
        assertThat(hybrid.constant(3).integer(0)).isZero();
        int each = weight.elements() / conv.channels();
        float[] values = new float[weight.elements()];
        for (int i = 0; i < values.length; i++) {
            values[i] = weight.integer(i) * scale.real(scale.elements() == 1 ? 0 : i / each);
        }
        Constant floats = new Constant(
                weight.name(),
                new TensorType(weight.type().shape(), DType.FLOAT32),
                Constant.vector(values).data());
        return new Binding(
                hybrid.id(),
                new Conv2d(conv.window(), conv.groups(), conv.channels(), conv.kernelLayout()),
                List.of(hybrid.args().get(0), floats),
                hybrid.type(),
                hybrid.origin());
    }

    /** The golden one, which is zero, and others. */
    private static List<Bytes> inputs() {
        Random random = new Random(11);
        Bytes golden = GoldenModels.input(MODEL, 0);
        List<Bytes> inputs = new ArrayList<>(List.of(golden));
        for (int k = 0; k < 3; k++) {
            float[] values = new float[golden.size() / Float.BYTES];
            for (int i = 0; i < values.length; i++) {
                values[i] = (1 + 4 * k) * (float) random.nextGaussian();
            }
            inputs.add(Constant.vector(values).data());
        }
        return inputs;
    }
}
