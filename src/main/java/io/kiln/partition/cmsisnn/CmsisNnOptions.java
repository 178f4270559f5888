// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.cmsisnn;

import io.kiln.base.Failure;
import io.kiln.base.Problem;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The options of {@code cmsis-nn} in a target.
 *
 * @param version of the sources
 * @param isDsp whether the functions are those for the DSP extension, unless the core has MVE
 * @param isMve whether the functions are those for MVE
 * @param reportsErrors whether generated code states the last error
 */
record CmsisNnOptions(CmsisNnVersion version, boolean isDsp, boolean isMve, boolean reportsErrors) {
    static final String VERSION = "version";
    private static final String REPORTS_ERRORS = "debug_last_error";
    private static final Set<String> KNOWN = Set.of("mcpu", "mattr", REPORTS_ERRORS, VERSION);

    /**
     * The options of a part of a target. Which of CMSIS-NN's functions a core gets is decided by macros of the C compiler, hence by the
     * host's target.
     */
    static CmsisNnOptions of(CompositeTarget.External external, Target host) {
        return new CmsisNnOptions(
                CmsisNnVersion.find(external.option(VERSION, "")).orElse(CmsisNnVersion.NEWEST),
                host.features().hasDsp(),
                host.features().hasMve(),
                Set.of("1", "true", "True").contains(external.option(REPORTS_ERRORS, "0")));
    }

    /** The errors in a part of a target. */
    static Optional<Problem> problem(CompositeTarget.External external, Target host) {
        String where = "target `" + external.text() + "`";
        Optional<String> unknown = external.attributes().keySet().stream()
                .filter(option -> !KNOWN.contains(option))
                .findFirst();
        if (unknown.isPresent()) {
            return Optional.of(Failure.TARGET.problem(
                    "cmsis-nn has no option `-" + unknown.get() + "`",
                    where,
                    "-mcpu, -mattr, -debug_last_error or -version",
                    ""));
        }
        Optional<String> core =
                Optional.ofNullable(external.attributes().get("mcpu")).map(CmsisNnOptions::core);
        Optional<String> own = host.mcpu().map(CmsisNnOptions::core);
        if (core.isPresent() && own.isPresent() && !core.equals(own)) {
            return Optional.of(Failure.TARGET.problem(
                    "cmsis-nn is for " + core.get() + ", and the rest is for " + own.get(),
                    where,
                    "the same core",
                    "Correct -mcpu in one of them"));
        }
        return Optional.ofNullable(external.attributes().get(VERSION))
                .flatMap(version -> CmsisNnVersion.problem(version, where));
    }

    private static String core(String mcpu) {
        return mcpu.split("\\+", -1)[0];
    }

    /**
     * A version of CMSIS-NN, of which the generated C depends on few things.
     *
     * @param major 4 to 7
     * @param minor from 0
     */
    record CmsisNnVersion(int major, int minor) implements Comparable<CmsisNnVersion> {
        /** The newest version that is supported. */
        static final CmsisNnVersion NEWEST = new CmsisNnVersion(7, 0);

        private static final Pattern TEXT = Pattern.compile("v?([0-9]{1,3})\\.([0-9]{1,3})(\\.[0-9]{1,3})?");
        private static final CmsisNnVersion OLDEST = new CmsisNnVersion(4, 1);

        /** The version of a text such as {@code 6.0.0}; empty if it is not a version. */
        static Optional<CmsisNnVersion> find(String text) {
            Matcher matcher = TEXT.matcher(text);
            return matcher.matches()
                    ? Optional.of(
                            new CmsisNnVersion(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2))))
                    : Optional.empty();
        }

        /** The error in a text; empty if it is a version that is supported. */
        static Optional<Problem> problem(String text, String where) {
            boolean isGood = find(text)
                    .filter(version -> version.compareTo(OLDEST) >= 0 && version.major <= NEWEST.major)
                    .isPresent();
            return isGood
                    ? Optional.empty()
                    : Optional.of(Failure.TARGET.problem(
                            "the version of CMSIS-NN is `" + text + "`",
                            where,
                            "4.1.0 to " + NEWEST.major + ".x",
                            "Bring other sources, or correct -version"));
        }

        /** The version as text, such as {@code 6.0}. */
        String text() {
            return major + "." + minor;
        }

        @Override
        public int compareTo(CmsisNnVersion other) {
            return major != other.major ? Integer.compare(major, other.major) : Integer.compare(minor, other.minor);
        }

        /** Whether the bias of an int16 convolution is a struct. */
        boolean hasBiasStruct() {
            return major >= 6;
        }

        /** Whether a fully connected layer takes sums of its weights from cores with MVE. */
        boolean takesKernelSums() {
            return major >= 5;
        }

        /** Whether these sums are the whole part of the result that does not depend on the input: times its offset, with the bias. */
        boolean hasWholeKernelSums() {
            return major >= 7;
        }

        /** Whether convolutions of a row on MVE of which every window is padded are computed by the general function. */
        boolean hasGeneralRows() {
            return major >= 6;
        }

        /** Whether convolutions of int16 gather their input in a buffer on every core. */
        boolean buffersWideInput() {
            return major >= 6;
        }
    }

    /**
     * Bytes of the buffers that CMSIS-NN's functions take in their context. Source: {@code arm_*_get_buffer_size} of CMSIS-NN; where versions
     * or compilers differ, what suffices for all.
     */
    record BufferSizes(CmsisNnOptions options) {
        /** Input channels that a depthwise convolution gathers at once on MVE ({@code CH_IN_BLOCK_MVE}). */
        private static final int DEPTHWISE_BLOCK = 124;

        /** Kernel size from which on convolutions of int16 take no shortcut. */
        private static final int LARGE_KERNEL = 512;

        /** The buffer of {@code arm_convolve_wrapper_s8}. */
        long convolution(Window window, Shape input) {
            boolean isPointwise = window.kernelH() == 1
                    && window.kernelW() == 1
                    && !window.isPadded()
                    && window.dilationH() == 1
                    && window.dilationW() == 1;
            if (isPointwise) {
                return 0;
            }
            long columns = columns(window, input);
            return options.isMve() ? 4 * rounded(columns, 16) : 2 * rounded(columns, 4) * Short.BYTES;
        }

        /** The buffer of {@code arm_convolve_wrapper_s16}. */
        long wideConvolution(Window window, Shape input) {
            long columns = columns(window, input);
            if (options.version().buffersWideInput()) {
                return options.isMve() ? 4 * rounded(columns, 8) * Short.BYTES : 2 * columns * Short.BYTES;
            }
            boolean isFast = columns < LARGE_KERNEL && window.dilationH() == 1 && window.dilationW() == 1;
            return options.isDsp() && !options.isMve() && isFast ? 2 * columns * Short.BYTES : 0;
        }

        /** The buffer of {@code arm_depthwise_conv_wrapper_s8}. */
        long depthwise(Window window, Shape input, int channels) {
            boolean isFast =
                    input.dim(3) == channels && input.dim(0) == 1 && window.dilationH() == 1 && window.dilationW() == 1;
            long taps = (long) window.kernelH() * window.kernelW();
            if (!isFast) {
                return 0;
            }
            if (options.isMve()) {
                return 4 * DEPTHWISE_BLOCK * taps;
            }
            boolean isUnrolled =
                    window.kernelH() == 3 && window.kernelW() == 3 && window.padTop() <= 1 && window.padLeft() <= 1;
            return options.isDsp() && !isUnrolled ? input.dim(3) * taps * Short.BYTES : 0;
        }

        /** The buffer of {@code arm_depthwise_conv_wrapper_s16}. */
        long wideDepthwise(Window window, Shape input, int channels) {
            long taps = (long) window.kernelH() * window.kernelW();
            boolean isFast = input.dim(3) == channels
                    && window.dilationH() == 1
                    && window.dilationW() == 1
                    && taps < LARGE_KERNEL;
            if (!isFast) {
                return 0;
            }
            long gathered = input.dim(3) * taps * Short.BYTES;
            return options.isMve() ? 4 * gathered + Long.BYTES : options.isDsp() ? gathered : 0;
        }

        /** The buffer of {@code arm_avgpool_s8} and {@code arm_avgpool_s16}. */
        long average(Shape input) {
            return options.isDsp() && !options.isMve() ? (long) input.dim(3) * Integer.BYTES : 0;
        }

        private static long columns(Window window, Shape input) {
            return (long) window.kernelH() * window.kernelW() * input.dim(3);
        }

        private static long rounded(long elements, int multiple) {
            return (elements + multiple - 1) / multiple * multiple;
        }
    }
}
