// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.tflite.write.TfliteMaker;
import io.kiln.ir.Function;
import io.kiln.quantize.QuantizeOptions.Equalize;
import io.kiln.quantize.QuantizeOptions.Limits;
import io.kiln.quantize.QuantizeOptions.QuantizeMode;
import io.kiln.quantize.range.Calibration.RangeMethod;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.Sample;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A float ONNX model costs as much as the same model in TensorFlow Lite's form, whose layout is that of the kernels. */
class FloatTwinTest {
    private static final QuantizeOptions ALL_FLOAT =
            new QuantizeOptions(QuantizeMode.INT8, RangeMethod.MINMAX, Equalize.NEVER, List.of("*"), true, Limits.NONE);

    @ParameterizedTest
    @ValueSource(strings = {"micro_kws_m_static_fp32.onnx", "mnist_simplified.onnx"})
    @NeedsShared("onnx")
    void runsTheSameKernels(String name) {
        Function onnx = OnnxFrontend.read(SharedFolder.need("onnx").resolve(name), "model", InputShapes.NONE);
        List<Sample> samples = FloatNet.samples(onnx, 2, 1);
        Quantized twin =
                new Quantizer(new TfliteMaker("model.tflite"), Runs.Progress.NONE).quantize(onnx, samples, ALL_FLOAT);
        WrittenModelTest.assertSameAnswers(twin, samples);
        assertThat(kernels(onnx)).isEqualTo(kernels(twin.function()));
    }

    /** TensorFlow Lite's convolutions always have a bias; it is where a sum begins, and so costs nothing. */
    private static List<String> kernels(Function function) {
        return CompiledWork.of(function).operators().stream()
                .map(operator -> operator.replace("+nn.bias_add", ""))
                .toList();
    }
}
