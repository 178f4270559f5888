// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.base.Optimize;
import io.kiln.schedule.GoalMix;
import io.kiln.target.SpareRam.RamShare;
import io.kiln.transform.PassOptions;
import java.util.Optional;

/**
 * What a user chooses about the code of models, whatever the models and the board are. A parameter of the compiler is a component of this
 * record or of one of its groups, from where the goal reads it to where it is used.
 *
 * @param calls how programs call the models, and how models call their operators
 * @param passes changes to the passes
 * @param reading how model files are read
 * @param portable whether micro-kernels take their C twins on the target, too, in place of assembly and vendor intrinsics
 * @param ram what is copied to RAM when a program starts
 * @param mix goals of parts of the models that are not {@code optimize}; empty if all have that one
 */
public record CompileOptions(
        Optimize optimize,
        CallOptions calls,
        PassOptions passes,
        ReadOptions reading,
        boolean portable,
        RamOptions ram,
        Optional<GoalMix> mix) {
    /** Optimized for speed, with the typed interface and all passes. */
    public static final CompileOptions DEFAULT = new CompileOptions(
            Optimize.SPEED,
            CallOptions.TYPED,
            PassOptions.DEFAULT,
            ReadOptions.DEFAULT,
            false,
            RamOptions.AUTO,
            Optional.empty());

    /** The same optimized for something else, all of it. */
    public CompileOptions with(Optimize other) {
        return new CompileOptions(other, calls, passes, reading, portable, ram, Optional.empty());
    }

    /**
     * The same with goals for parts.
     *
     * @param other what is optimized for in all other parts
     */
    public CompileOptions with(Optimize other, GoalMix parts) {
        return new CompileOptions(other, calls, passes, reading, portable, ram, Optional.of(parts));
    }

    /** The same with another interface. */
    public CompileOptions with(CallOptions other) {
        return new CompileOptions(optimize, other, passes, reading, portable, ram, mix);
    }

    /** The same with other changes to the passes. */
    public CompileOptions with(PassOptions other) {
        return new CompileOptions(optimize, calls, other, reading, portable, ram, mix);
    }

    /** The same for model files that are read in another way. */
    public CompileOptions with(ReadOptions other) {
        return new CompileOptions(optimize, calls, passes, other, portable, ram, mix);
    }

    /** The same with another use of RAM. */
    public CompileOptions with(RamOptions other) {
        return new CompileOptions(optimize, calls, passes, reading, portable, other, mix);
    }

    /**
     * What is copied to RAM when a program starts.
     *
     * @param code functions
     * @param weights weights and tables
     */
    public record RamOptions(RamShare code, RamShare weights) {
        /** Nothing. */
        public static final RamOptions NONE = new RamOptions(RamShare.NONE, RamShare.NONE);

        /** Everything. */
        public static final RamOptions ALL = new RamOptions(RamShare.ALL, RamShare.ALL);

        /** What saves most, where the board has RAM to spare and its flash makes the core wait. */
        public static final RamOptions AUTO = new RamOptions(RamShare.AUTO, RamShare.AUTO);
    }
}
