// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

/**
 * By {@link io.kiln.lower.FloorRescale}, whose offsets have 64 bits: about eight instructions per value.
 *
 * @param range what does not depend on the rescaling
 */
public record DspFloorEpilogue(Range range) implements DspEpilogue {
    @Override
    public String suffix() {
        return range.prefix() + "_floor" + range.suffix();
    }

    @Override
    public String constantsInWords() {
        return "a multiplier, both words of an offset and a shift";
    }

    @Override
    public int constants() {
        return 4;
    }
}
