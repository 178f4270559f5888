// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.Failure;
import io.kiln.base.Problems;
import java.util.function.Supplier;

/** What a code generator hands over: a file, or something that exists only in this process. */
public sealed interface BuildOutput permits Artifact, BuildOutput.InMemoryArtifact {
    /** Which code generator made it. */
    String codegenId();

    /** Its name, unique within the code generator. */
    String fileName();

    /**
     * The result of a code generator that exists only in this process, such as code that a just-in-time compiler made. It loads itself, and it
     * cannot be written: a build with one refuses every export.
     *
     * @param codegenId which code generator made it
     * @param fileName its name, unique within the code generator
     * @param load makes the loaded module
     */
    record InMemoryArtifact(String codegenId, String fileName, Supplier<?> load) implements BuildOutput {
        /**
         * Checks the names.
         *
         * @throws io.kiln.base.KilnException with all names that are wrong
         */
        public InMemoryArtifact {
            Problems problems = new Problems(Failure.ARCHIVE);
            Artifact.check(codegenId, "code generator", "in-memory artifact", problems);
            Artifact.check(fileName, "file", "in-memory artifact", problems);
            problems.throwIfAny();
        }
    }
}
