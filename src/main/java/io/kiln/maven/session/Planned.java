// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.flow.spec.BuildSpec.Layout;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;

/** A verification with what a test plan asks for beside it. */
public final class Planned {
    private Planned() {}

    /**
     * The plan of a build, if there is one.
     *
     * @param given {@code kiln.verify.plan}, null if it is not set
     */
    public static Optional<Path> file(File given, Layout layout) {
        return Optional.ofNullable(given)
                .map(File::toPath)
                .or(() -> Optional.of(layout.plan()).filter(Files::exists));
    }

    /**
     * Verifies a build, and then by a plan, even if the build was wrong.
     *
     * @param plan the plan's file; empty if there is none
     * @param verification of the build alone
     * @param whole verifies by the plan
     * @throws KilnException with all that is wrong, each once
     */
    public static void run(Optional<Path> plan, Runnable verification, Consumer<Path> whole) {
        if (plan.isEmpty()) {
            verification.run();
            return;
        }
        Problems problems = new Problems(Failure.VERIFY);
        problems.collect(verification);
        problems.collect(() -> whole.accept(plan.get()));
        if (!problems.isEmpty()) {
            throw new KilnException(problems.list().stream().distinct().toList());
        }
    }
}
