// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen;

import io.kiln.target.Target;

/**
 * The origin of a generated file.
 *
 * @param source name of the model file
 * @param target the target of the code
 * @param portable whether micro-kernels take their C twins in place of assembly and vendor intrinsics
 */
public record CodeOrigin(String source, Target target, boolean portable) {
    /** Code whose micro-kernels are those of the target. */
    public CodeOrigin(String source, Target target) {
        this(source, target, false);
    }
}
