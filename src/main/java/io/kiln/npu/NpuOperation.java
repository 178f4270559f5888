// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * An operation of a command stream with the memory that it touches.
 *
 * @param number its number in the stream, from 0
 * @param offset byte of the command that starts it
 * @param kind what it does, such as {@code CONV} or {@code ELEMENTWISE ADD}
 * @param shape of its result, rows x columns x channels; bytes for DMA
 * @param macs multiply-accumulates with weights
 * @param accesses what it reads and writes
 */
public record NpuOperation(int number, int offset, String kind, String shape, long macs, List<Access> accesses) {
    /** What an operation of DMA reads that brings a table into the NPU's own memory. */
    public static final String TABLE = "table";

    public NpuOperation {
        accesses = List.copyOf(accesses);
    }

    /**
     * Memory that an operation touches.
     *
     * @param what such as {@code IFM}, {@code OFM}, {@code weights} or {@code scales}
     * @param region number of the base pointer
     * @param first first byte in the region
     * @param end byte behind the last
     * @param isWritten whether the NPU writes it
     */
    public record Access(String what, int region, long first, long end, boolean isWritten) {
        String text() {
            return String.format(Locale.ROOT, "%s %d:0x%x..0x%x", what, region, first, end);
        }
    }

    /** One line: number, offset, what it does, and its memory by region and address. */
    public String text() {
        return String.format(Locale.ROOT, "#%d at 0x%x: %s %s", number, offset, kind, shape)
                + (macs > 0 ? ", " + macs + " MACs" : "")
                + accesses.stream().map(access -> ", " + access.text()).collect(Collectors.joining());
    }
}
