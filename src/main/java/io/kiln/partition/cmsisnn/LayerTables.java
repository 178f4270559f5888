// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.cmsisnn;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.partition.ExternalCall.Table;
import io.kiln.partition.Match;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Tables of weights and per-channel values for calls of CMSIS-NN's layers. */
final class LayerTables {
    private LayerTables() {}

    /** The weights as they are: OHWI, HWOI of depthwise convolutions, rows by outputs of fully connected layers. */
    static Table filter(Match match) {
        Constant weight = match.root().constant(1);
        return new Table("filter", weight.type().dtype(), weight.data());
    }

    static Optional<Constant> bias(Match match) {
        return match.find(BiasAdd.class).map(bias -> bias.constant(1));
    }

    static Table bias(Constant bias) {
        return new Table("bias", bias.type().dtype(), bias.data());
    }

    /** Values of which there is one for all channels, or one for each. */
    static Table perChannel(String name, List<Integer> values, int channels) {
        return ints(
                name,
                IntStream.range(0, channels)
                        .map(c -> values.get(values.size() == 1 ? 0 : c))
                        .toArray());
    }

    static Table ints(String name, int... values) {
        ByteBuffer data = ByteBuffer.allocate(values.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            data.putInt(value);
        }
        return new Table(name, DType.INT32, Bytes.wrap(data.array()));
    }

    static Table shorts(String name, int... values) {
        ByteBuffer data = ByteBuffer.allocate(values.length * Short.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            data.putShort((short) value);
        }
        return new Table(name, DType.INT16, Bytes.wrap(data.array()));
    }

    static int zeroPoint(Binding binding, int position) {
        return (int) binding.constant(position).integer(0);
    }
}
