// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.kernels.depthwise.Jteint16Generated;
import io.kiln.lower.Intrinsics;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelSheet;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The kernel {@code depthwise/int16}: one channel after the other, for cores without vectors.
 *
 * @param hasLongMultiply whether a multiplication takes any registers; Armv6-M multiplies only in eight of them
 */
public record PortableInt16Taps(boolean hasLongMultiply) implements Int16DepthwiseKernel {
    @Override
    public String title() {
        return "depthwise16";
    }

    @Override
    public String reason() {
        return "pixels side by side share inputs and weights; sums are proven to fit 32 bits";
    }

    @Override
    public int pixels() {
        return hasLongMultiply ? 4 : 2;
    }

    @Override
    public int channels() {
        return 1;
    }

    @Override
    public void put(ByteBuffer table, int weight) {
        if (hasLongMultiply) {
            table.put((byte) weight);
        } else {
            table.putInt(weight);
        }
    }

    @Override
    public int weightBytes() {
        return hasLongMultiply ? 1 : Integer.BYTES;
    }

    @Override
    public Kernel kernel(Place place) {
        String name = "kiln_depthwise16_" + place.suffix();
        Intrinsic limit = place.isLimited() ? Intrinsics.CLAMP : Intrinsics.SATURATE_16;
        String definition = KernelSheet.text((out, html) -> Jteint16Generated.render(out, html, name, this, place));
        return Int16DepthwiseKernel.kernel(name, place, definition, List.of(Intrinsics.RESCALE_HIGH, limit));
    }
}
