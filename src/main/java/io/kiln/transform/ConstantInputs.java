// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.DType;
import io.kiln.ir.Constant;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;

/**
 * The input channels that a layer does not need: those that it ignores, and constant ones that add the same to an
 * accumulator at every position, with any padding; their contribution moves to the bias.
 */
final class ConstantInputs {
    private final LayerSums layer;
    private final List<Range> data;
    private final BitSet removable = new BitSet();

    /**
     * Finds these channels.
     *
     * @param data range of each input channel
     * @param bias the bias added to the accumulators, if there is one
     * @param biasCanChange whether constants can be added to the bias
     */
    ConstantInputs(LayerSums layer, List<Range> data, Optional<Constant> bias, boolean biasCanChange) {
        this.layer = layer;
        this.data = data;
        BitSet adding = new BitSet();
        for (int c = 0; c < data.size(); c++) {
            boolean constant = data.get(c).isPoint();
            boolean isZero = constant && data.get(c).low() == layer.zeroPoint();
            if (isZero || layer.ignores(c)) {
                removable.set(c);
            } else if (constant && isUniform(c)) {
                adding.set(c);
            }
        }
        if (biasCanChange && staysWithin32Bits(adding, bias)) {
            removable.or(adding);
        }
    }

    boolean canGo(int c) {
        return removable.get(c);
    }

    /** The contribution of a removable channel to an output channel's accumulator. */
    long adds(int output, int c) {
        Range value = data.get(c);
        return value.isPoint() ? (value.low() - layer.zeroPoint()) * layer.weightSum(output, c, 0) : 0;
    }

    private boolean isUniform(int c) {
        for (int o = 0; o < layer.outputs(); o++) {
            long anywhere = layer.weightSum(o, c, 0);
            for (int border = 1; border < layer.borders(); border++) {
                if (layer.weightSum(o, c, border) != anywhere) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Whether the bias stays within 32 bits for any subset of the channels. */
    private boolean staysWithin32Bits(BitSet channels, Optional<Constant> bias) {
        for (int o = 0; o < layer.outputs(); o++) {
            int output = o;
            long before = bias.map(b -> Math.abs(b.integer(output))).orElse(0L);
            long magnitude =
                    channels.stream().mapToLong(c -> Math.abs(adds(output, c))).sum();
            if (before + magnitude > DType.INT32.max()) {
                return false;
            }
        }
        return true;
    }
}
