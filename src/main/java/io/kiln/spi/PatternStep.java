// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

/**
 * One operator of an {@link OperatorPattern}.
 *
 * @param operator its Relay name
 * @param optional whether it may be missing
 * @param rescales whether it stands for every operator that {@linkplain Operator#rescaling rescales}, whatever its name
 */
public record PatternStep(String operator, boolean optional, boolean rescales) {
    /**
     * An operator that has to be there.
     *
     * @param operator its Relay name, such as {@code qnn.conv2d}
     * @return the step
     */
    public static PatternStep of(String operator) {
        return new PatternStep(operator, false, false);
    }

    /**
     * Any operator that turns sums into elements of the output, by multipliers and shifts.
     *
     * @return the step
     */
    public static PatternStep rescaling() {
        return new PatternStep("qnn.requantize", false, true);
    }

    /**
     * The same step for an operator that may be missing.
     *
     * @return the optional step
     */
    public PatternStep orNone() {
        return new PatternStep(operator, true, rescales);
    }
}
