// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Signature;

/**
 * 2-D transposed convolution of float32, NHWC. Arguments: data, weight (OHWI).
 *
 * @param window geometry
 * @param channels output channels
 */
public record Conv2dTranspose(TransposedWindow window, int channels) implements TransposedLayer {
    public static final Signature<Conv2dTranspose> SIGNATURE = Signature.of(
                    Conv2dTranspose.class, "nn.conv2d_transpose")
            .data("data", DType.FLOAT32)
            .data("weight", DType.FLOAT32)
            .attributes(
                    Attribute.whole("channels", Conv2dTranspose::channels, 1),
                    Attribute.parts(Conv2dTranspose::window, TransposedWindow::text, TransposedWindow::read)
                            .then("out_dtype", "float32"),
                    (channels, window) -> new Conv2dTranspose(window, channels))
            .result((op, args) -> op.window.infer(op.name(), op.channels, args.get(0), args.get(1), DType.FLOAT32));

    @Override
    public Card<Conv2dTranspose> card() {
        return SIGNATURE.of(this);
    }
}
