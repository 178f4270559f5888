// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.FixedPoint;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a kernel's name says of its rescaling. */
record DspEpilogueTwin(boolean isBytes, int scale, int shift, boolean isSigned, int low, int high, long late) {
    private static final Pattern EPILOGUE =
            Pattern.compile("(_bytes)?_scale(\\d+)_shift(\\d+)(_signed)?(?:_limit_(\\d+)_(\\d+))?");

    static DspEpilogueTwin of(String text, int[] s) {
        Matcher m = EPILOGUE.matcher(text);
        if (!m.matches()) {
            throw new IllegalArgumentException("epilogue " + text);
        }
        boolean isLimited = m.group(5) != null;
        return new DspEpilogueTwin(
                m.group(1) != null,
                Integer.parseInt(m.group(2)),
                Integer.parseInt(m.group(3)),
                m.group(4) != null,
                isLimited ? Integer.parseInt(m.group(5)) - 128 : -128,
                isLimited ? Integer.parseInt(m.group(6)) - 128 : 127,
                m.group(4) == null ? 0 : s[s.length - 1]);
    }

    int first(int both, int second) {
        return isBytes ? (byte) (both >> 8) : (both - second) >> 8;
    }

    /** A weight that is alone in its halfword. */
    int weight(int half) {
        return isBytes ? half : half >> 8;
    }

    int constants() {
        return isSigned ? 3 : 2;
    }

    long apply(long sum, KernelTwins.Memory w, int at) {
        long high = Math.addExact(
                Math.toIntExact(w.get(at + 1)), Math.toIntExact((Math.toIntExact(sum << scale) * w.get(at)) >> 32));
        if (isSigned) {
            high = Math.toIntExact(high - (high < 0 ? w.get(at + 2) : 0) + late);
        }
        return FixedPoint.clamp(high >> shift, low, high());
    }
}
