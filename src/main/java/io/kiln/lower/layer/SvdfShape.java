// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import io.kiln.base.Bytes;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.lower.FusedOperator;

/** The sizes of a {@link Svdf}, and its weights in the order of the ring: filters as (rank, units). */
record SvdfShape(int batch, int inputs, int rank, int units, int memory) {
    static SvdfShape of(FusedOperator op) {
        int rank = ((Svdf) op.root().op()).rank();
        return new SvdfShape(
                op.type().shape().dim(0),
                op.rootTypes().get(1).shape().dim(1),
                rank,
                op.rootTypes().get(1).shape().dim(0) / rank,
                op.rootTypes().get(2).shape().dim(1));
    }

    int filters() {
        return rank * units;
    }

    long macs() {
        return (long) batch * filters() * (inputs + memory);
    }

    /** The filter among the weights that is at a place of a slot. */
    int filter(int place) {
        return place % units * rank + place / units;
    }

    QuantizedMultiplier multiplier(FusedOperator op, int argument) {
        return new QuantizedMultiplier((int) op.root().constant(argument).integer(0), (int)
                op.root().constant(argument + 1).integer(0));
    }

    /** Feature weights in the order of a slot. */
    Bytes byRank(Constant weights) {
        int width = inputs * weights.type().dtype().bytes();
        byte[] data = new byte[filters() * width];
        for (int place = 0; place < filters(); place++) {
            weights.data().buffer().get(filter(place) * width, data, place * width, width);
        }
        return Bytes.wrap(data);
    }

    /** Time weights by age, then in the order of a slot. */
    Bytes byAge(Constant weights) {
        int width = weights.type().dtype().bytes();
        byte[] data = new byte[filters() * memory * width];
        for (int i = 0; i < filters() * memory; i++) {
            int from = filter(i % filters()) * memory + i / filters();
            weights.data().buffer().get(from * width, data, i * width, width);
        }
        return Bytes.wrap(data);
    }
}
