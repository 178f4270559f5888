// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Writes weights into a table in the order in which a schedule reads them. */
public final class WeightPacking {
    private final ConvComputation conv;
    private final boolean isPacked;
    private final ByteBuffer source;
    private final ByteBuffer packed;

    /** @param isPacked whether weights are {@link FourBitWeights#halves} */
    public WeightPacking(ConvComputation conv, int elements, boolean isPacked) {
        this.conv = conv;
        this.isPacked = isPacked;
        this.source = conv.weight().data().buffer();
        this.packed = ByteBuffer.allocate(
                        elements * conv.weight().type().dtype().bytes())
                .order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Appends one weight. */
    public void put(int outputChannel, int ky, int kx, int c) {
        int index = conv.weightIndex(outputChannel, ky, kx, c);
        if (conv.weight().type().dtype().isFloat()) {
            packed.putFloat(source.getFloat(4 * index));
        } else {
            packed.put(source.get(index));
        }
    }

    public Buffer table(String name, Tables tables) {
        return isPacked
                ? FourBitWeights.halves(name, packed.array(), tables)
                : tables.add(name, conv.weight().type().dtype(), Bytes.wrap(packed.array()));
    }

    /** A loaded weight without its zero point. */
    public static Expr centred(ConvComputation conv, Expr weight) {
        if (conv.weight().type().dtype().isFloat()) {
            return weight;
        }
        Expr centred = Exprs.sub(weight, Exprs.imm(conv.kernelZeroPoint()));
        return conv.isFloat() ? Exprs.cast(DType.FLOAT32, centred) : centred;
    }
}
