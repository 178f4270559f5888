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
 */
public record CompileOptions(Optimize optimize, CallOptions calls, PassOptions passes, ReadOptions reading) {
    /** Optimized for speed, with the typed interface and all passes. */
    public static final CompileOptions DEFAULT =
            new CompileOptions(Optimize.SPEED, CallOptions.TYPED, PassOptions.DEFAULT, ReadOptions.DEFAULT);

    /** The same optimized for something else. */
    public CompileOptions with(Optimize other) {
        return new CompileOptions(other, calls, passes, reading);
    }

    /** The same with another interface. */
    public CompileOptions with(CallOptions other) {
        return new CompileOptions(optimize, other, passes, reading);
    }

    /** The same with other changes to the passes. */
    public CompileOptions with(PassOptions other) {
        return new CompileOptions(optimize, calls, other, reading);
    }

    /** The same for model files that are read in another way. */
    public CompileOptions with(ReadOptions other) {
        return new CompileOptions(optimize, calls, passes, other);
    }
}
