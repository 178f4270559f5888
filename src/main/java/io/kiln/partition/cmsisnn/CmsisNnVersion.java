// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.cmsisnn;

import io.kiln.base.Failure;
import io.kiln.base.Problem;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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
