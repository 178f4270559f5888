// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Pool2d;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Window;

/**
 * Maximum over a window without padding. NHWC. Argument: data.
 *
 * @param window geometry
 */
public record MaxPool2d(Window window) implements Pool2d {
    public static final Signature<MaxPool2d> SIGNATURE = Signature.of(MaxPool2d.class, "nn.max_pool2d")
            .data("data", operand -> operand.rank(4))
            .attributes(Attribute.pool(MaxPool2d::window).then("layout", "NHWC"), MaxPool2d::new)
            .compiles(DType.INT8, DType.INT16, DType.INT32, DType.FLOAT32)
            .result((op, args) -> op.window.slid(op, args.get(0)));

    @Override
    public Card<MaxPool2d> card() {
        return SIGNATURE.of(this);
    }
}
