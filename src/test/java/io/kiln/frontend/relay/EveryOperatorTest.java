// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.kiln.base.Bytes;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.onnx.ImportedFunctions;
import io.kiln.frontend.onnx.OnnxDraw;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.RandomBlockModels;
import io.kiln.frontend.onnx.ml.RandomForests;
import io.kiln.frontend.onnx.quantized.RandomModels;
import io.kiln.frontend.onnx.quantized.RandomRealBiases;
import io.kiln.frontend.onnx.quantized.RandomResizes;
import io.kiln.frontend.relay.rule.Rules;
import io.kiln.frontend.tflite.VelaModel;
import io.kiln.frontend.tflite.single.OperatorCases;
import io.kiln.frontend.tflite.single.SingleOperatorTest;
import io.kiln.ir.Function;
import io.kiln.ir.op.Op;
import io.kiln.ir.text.RelayPrinter;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Every operator of the IR has a form in Relay's text and a rule that reads it. */
class EveryOperatorTest {
    private static final int SEEDS = 6;

    /** A number of an ONNX model that adds two quantized tensors. */
    private static final long QUANTIZED_SUM = 6;

    /** Operators that no TensorFlow Lite model has: TVM's own arithmetic, ONNX's scatters, TopK, softmax and means, and a C function of the user's. */
    private static final String FOREIGN = """
        def @main(%x: Tensor[(1, 8), int8], %w: Tensor[(1, 8), int32], %f: Tensor[(8), float32], %i: Tensor[(1, 1), int32], %p: Tensor[(1, 4, 4, 2), int8]) {
          %0 = qnn.requantize(%x, 0.1f, 0, 0.2f, 0, out_dtype="int8");
          %1 = fixed_point_multiply(%w, multiplier=1073741824, shift=-2);
          %2 = tfl.custom(%f, code="MyOp", function="my_op", header="", inputs=1, outputs=1, shape=[8], out_dtype="float32");
          %3 = topk(%x, k=3, axis=-1, ret_type="indices", is_ascend=1, dtype="int32");
          %4 = scatter_nd(%w, %i, %w, mode="add");
          %5 = onnx.softmax(%x, 0.1f, 0, 0.00390625f, -128, axis=-1, form="qdq");
          %6 = onnx.avg_pool2d(%p, 0.1f, 0, 0.1f, 0, pool_size=[2, 2], strides=[1, 1], dilation=[1, 1], padding=[0, 0, 0, 0], order="rows", form="qdq");
          %7 = reinterpret(%f, dtype="int32");
          (%0, %1, %2, %3, %4, %5, %6, %7)
        }
        """;

    @Test
    void isReadFromItsOwnText() {
        Set<Class<?>> seen = new HashSet<>();
        SingleOperatorTest.operators().forEach(operator -> {
            for (long seed = 0; seed < SEEDS; seed++) {
                addOperators(operator.function(seed, TfliteRounding.MICRO, "default"), seen);
                if (operator.kernels() == OperatorCases.Kernels.ROUNDED_OTHERWISE) {
                    addOperators(operator.function(seed, TfliteRounding.LITE, "default"), seen);
                }
            }
        });
        addOperators(read(FOREIGN), seen);
        addOperators(ImportedFunctions.streaming("default"), seen);
        addOperators(VelaModel.mixed(VelaModel.U55_128).read(), seen);
        List<OnnxDraw.Model> quantized =
                List.of(RandomModels.draw(QUANTIZED_SUM), RandomRealBiases.draw(0), RandomResizes.draw(0));
        addOperators(OnnxFrontend.read(RandomForests.draw(0).file(), "m.onnx", "default", InputShapes.NONE), seen);
        addOperators(OnnxFrontend.read(RandomBlockModels.draw(0).file(), "m.onnx", "default", InputShapes.NONE), seen);
        for (OnnxDraw.Model model : quantized) {
            addOperators(OnnxFrontend.read(model.file(), "m.onnx", "default", InputShapes.NONE), seen);
        }

        Set<Class<?>> missing = operators();
        missing.removeAll(seen);
        assertThat(missing).isEmpty();
    }

    @Test
    void isReadFromItsOwnTextWithTensorFlowLitesRounding() {
        SingleOperatorTest.operators()
                .filter(operator -> operator.kernels() == OperatorCases.Kernels.ROUNDED_OTHERWISE)
                .forEach(operator -> {
                    for (long seed = 0; seed < SEEDS; seed++) {
                        Function function = operator.function(seed, TfliteRounding.LITE, "default");
                        assertThat(read(RelayPrinter.astext(function))).isEqualTo(function);
                    }
                });
    }

    /** The operators of a function, and of those that it calls, if the function comes back from its text. */
    private static void addOperators(Function function, Set<Class<?>> seen) {
        if (!seen.containsAll(operators(function))) {
            assertThat(read(RelayPrinter.astext(function))).isEqualTo(function);
            assertThat(function.bindings())
                    .allMatch(binding -> Rules.of(binding.op().name()).isPresent());
            seen.addAll(operators(function));
        }
    }

    private static Set<Class<?>> operators(Function function) {
        return Stream.concat(Stream.of(function), function.functions().stream())
                .flatMap(f -> f.bindings().stream())
                .map(b -> b.op().getClass())
                .collect(Collectors.toSet());
    }

    private static Function read(String text) {
        return RelayFrontend.read(Bytes.ofText(text), "model.relay", Optional.empty(), "model.params", "default");
    }

    /** All classes of operators that were compiled. */
    private static Set<Class<?>> operators() {
        return new ClassFileImporter()
                .importPackages("io.kiln.ir.op").stream()
                        .filter(type -> type.isAssignableTo(Op.class))
                        .filter(type ->
                                !type.isInterface() && !type.getModifiers().contains(JavaModifier.ABSTRACT))
                        .map(JavaClass::reflect)
                        .collect(Collectors.toSet());
    }
}
