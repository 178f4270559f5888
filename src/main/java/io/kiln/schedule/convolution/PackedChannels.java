// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.WeightPacking;
import io.kiln.tir.Buffer;
import java.util.ArrayList;
import java.util.List;

/** Weights of a direct convolution in the order in which its blocks of output channels read them. */
record PackedChannels(ConvComputation conv, ConvDirect.Knobs knobs, Tables tables) {
    /** Channels {@code [begin, end)} in blocks of one width, and the table of their weights. */
    record Blocks(int begin, int end, int width, Buffer weights) {}

    /** Blocks of the configured width, and one for the remaining channels. */
    List<Blocks> blocks() {
        int channels = conv.channels();
        int whole = channels / knobs.channelBlock() * knobs.channelBlock();
        List<Blocks> blocks = new ArrayList<>();
        if (whole > 0) {
            blocks.add(pack("weight", 0, whole, knobs.channelBlock()));
        }
        if (whole < channels) {
            blocks.add(pack("weight_rest", whole, channels, channels - whole));
        }
        return blocks;
    }

    private Blocks pack(String name, int begin, int end, int width) {
        int phases = conv.upsampling().phases();
        WeightPacking packing = new WeightPacking(conv, phases * (end - begin) * conv.taps(), knobs.packed());
        for (int phase = 0; phase < phases; phase++) {
            putAll(packing, phase * conv.channels() + begin, phase * conv.channels() + end, width);
        }
        return new Blocks(begin, end, width, packing.table(name, tables));
    }

    private void putAll(WeightPacking packing, int begin, int end, int width) {
        for (int first = begin; first < end; first += width) {
            for (int ky = 0; ky < conv.window().kernelH(); ky++) {
                for (int kx = 0; kx < conv.window().kernelW(); kx++) {
                    for (int c = 0; c < conv.channelsPerGroup(); c++) {
                        for (int o = first; o < first + width; o++) {
                            packing.put(o, ky, kx, c);
                        }
                    }
                }
            }
        }
    }
}
