// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.base.Optimize;
import io.kiln.transform.PassOptions;

/**
 * What a user chooses about the code of models, whatever the models and the board are. A parameter of the compiler is a component of this
 * record or of one of its groups, from where the goal reads it to where it is used.
 *
 * @param optimize what to optimize for
 * @param calls how programs call the models, and how models call their operators
 * @param passes changes to the passes
 * @param reading how model files are read
 * @param portable whether micro-kernels take their C twins on the target, too, in place of assembly and vendor intrinsics
 * @param ram what is copied to RAM when a program starts
 */
public record CompileOptions(
        Optimize optimize,
        CallOptions calls,
        PassOptions passes,
        ReadOptions reading,
        boolean portable,
        RamOptions ram) {
    /** Optimized for speed, with the typed interface and all passes. */
    public static final CompileOptions DEFAULT = new CompileOptions(
            Optimize.SPEED, CallOptions.TYPED, PassOptions.DEFAULT, ReadOptions.DEFAULT, false, RamOptions.AUTO);

    /** The same optimized for something else. */
    public CompileOptions with(Optimize other) {
        return new CompileOptions(other, calls, passes, reading, portable, ram);
    }

    /** The same with another interface. */
    public CompileOptions with(CallOptions other) {
        return new CompileOptions(optimize, other, passes, reading, portable, ram);
    }

    /** The same with other changes to the passes. */
    public CompileOptions with(PassOptions other) {
        return new CompileOptions(optimize, calls, other, reading, portable, ram);
    }

    /** The same for model files that are read in another way. */
    public CompileOptions with(ReadOptions other) {
        return new CompileOptions(optimize, calls, passes, other, portable, ram);
    }

    /** The same with another use of RAM. */
    public CompileOptions with(RamOptions other) {
        return new CompileOptions(optimize, calls, passes, reading, portable, other);
    }
}
