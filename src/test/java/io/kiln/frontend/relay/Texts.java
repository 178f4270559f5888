// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.text.RelayPrinter;
import java.util.List;
import java.util.Optional;

/** Small texts that are right, for tests to spoil. */
final class Texts {
    /** A dense layer whose weights are a parameter. */
    static final String WITH_PARAMETERS = """
        #[version = "0.0.5"]
        def @main(%x: Tensor[(1, 8), int8], %w: Tensor[(2, 8), int8], output_tensor_names=["y"]) {
          %0 = qnn.dense(%x, %w, -128, 0, 0.5f, 0.25f, units=2, out_dtype="int32");
          %1 = tfl.requantize(%0, 1073741824, -6, axis=1, input_zero_point=0, output_zero_point=3, rounding="TFLITE", out_dtype="int8");
          %2 = clip(%1, a_min=3f, a_max=127f);
          %3 = qnn.dequantize(%2, 0.1f, 3);
          %4 = nn.softmax(%3, axis=-1);
          %4
        }
        """;

    /** The same as the printer prints it, constants in the metadata section. */
    static final String WHOLE = RelayPrinter.astext(function());

    private Texts() {}

    static Bytes params() {
        byte[] weights = {1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4, -5, -6, -7, -8};
        return ParameterFile.write(List.of(new NamedTensor("w", DType.INT8, List.of(2, 8), Bytes.wrap(weights))));
    }

    /** A dense layer with the bias 10, 20, 30 as the first constant of its metadata section. */
    static Function biased() {
        Function dense = RelayFrontend.read(
                Bytes.ofText("def @main(%x: Tensor[(1, 3), float32]) {\n  nn.softmax(%x)\n}\n"),
                "m.relay",
                Optional.empty(),
                "m.params",
                "default");
        Constant bias = Constant.vector(10, 20, 30);
        Binding add = new Binding(
                2,
                new BiasAdd(-1),
                List.of(bias, bias),
                bias.type(),
                dense.bindings().get(0).origin());
        return dense.withBindings(List.of(dense.bindings().get(0), add));
    }

    static Function function() {
        return RelayFrontend.read(
                Bytes.ofText(WITH_PARAMETERS), "dense.relay", Optional.of(params()), "dense.params", "default");
    }
}
