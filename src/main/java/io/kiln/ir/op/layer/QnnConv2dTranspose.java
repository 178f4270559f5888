// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * 2-D transposed convolution with quantized weights, NHWC, before rescaling, with the sums of {@link QnnConv2d}.
 *
 * <p>Arguments: data, weight (OHWI), input zero point, kernel zero point, input scale, kernel scale (scalar or per channel).
 *
 * @param window geometry
 * @param channels output channels
 * @param outDtype int32 or int64, in which sums wrap around
 */
public record QnnConv2dTranspose(TransposedWindow window, int channels, DType outDtype) implements TransposedLayer {
    public static final Signature<QnnConv2dTranspose> SIGNATURE = Layer.quantized(
                    Signature.of(QnnConv2dTranspose.class, "qnn.conv2d_transpose")
                            .data(
                                    "data",
                                    operand -> operand.fits((what, type, op, args) -> Check.that(
                                            type.dtype().isInteger(), "qnn.conv2d_transpose: data must be quantized")))
                            .data("weight", DType.INT8),
                    QnnConv2dTranspose::channels)
            .attributes(
                    Attribute.whole("channels", QnnConv2dTranspose::channels, 1),
                    Attribute.parts(QnnConv2dTranspose::window, TransposedWindow::text, TransposedWindow::read),
                    Attribute.sums(QnnConv2dTranspose::outDtype),
                    (channels, window, outDtype) -> new QnnConv2dTranspose(window, channels, outDtype))
            .result(QnnConv2dTranspose::result);

    @Override
    public Card<QnnConv2dTranspose> card() {
        return SIGNATURE.of(this);
    }

    private TensorType result(List<TensorType> args) {
        Check.accumulator(name(), args.get(0), outDtype);
        return window.infer(name(), channels, args.get(0), args.get(1), outDtype);
    }
}
