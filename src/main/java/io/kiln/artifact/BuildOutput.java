// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

/** What a code generator hands over: a file, or something that exists only in this process. */
public sealed interface BuildOutput permits Artifact, InMemoryArtifact {
    /** Which code generator made it. */
    String codegenId();

    /** Its name, unique within the code generator. */
    String fileName();
}
