// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.call;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * A tensor that an {@link EthosU} left in its arena, as a value of its own. Argument: the arena, uint8.
 *
 * @param offset its first byte
 * @param shape its dimensions
 * @param dtype type of its elements, little-endian
 */
public record EthosUTensor(int offset, Shape shape, DType dtype) implements Op {
    public static final Signature<EthosUTensor> SIGNATURE = Signature.of(EthosUTensor.class, "tfl.ethos_u_tensor")
            .data("arena", operand -> operand.rank(1), DType.UINT8)
            .attributes(
                    Attribute.whole("offset", EthosUTensor::offset, 0),
                    Attribute.shape("shape", EthosUTensor::shape),
                    Attribute.dtype("dtype", EthosUTensor::dtype),
                    EthosUTensor::new)
            .traits()
            .result(EthosUTensor::result);

    @Override
    public Card<EthosUTensor> card() {
        return SIGNATURE.of(this);
    }

    private TensorType result(List<TensorType> args) {
        TensorType type = new TensorType(shape, dtype);
        long arena = args.get(0).shape().elements();
        Check.that(
                offset + type.bytes() <= arena,
                "it ends at byte " + (offset + type.bytes()) + " of an arena of " + arena + " bytes");
        return type;
    }
}
