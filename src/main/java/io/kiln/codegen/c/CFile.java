// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.codegen.CodeUnit.CodeOrigin;
import java.util.List;
import java.util.Optional;

/**
 * A C file as data: a header, or the source of its functions.
 *
 * @param origin source and target for the comment at its head
 * @param name file name
 * @param guard the include guard of a header; empty for a source
 * @param includes include names with their quotes or brackets
 * @param items in order
 */
public record CFile(CodeOrigin origin, String name, Optional<String> guard, List<String> includes, List<CItem> items) {
    public CFile {
        includes = List.copyOf(includes);
        items = List.copyOf(items);
    }

    /** Prints the file. */
    public Artifact artifact() {
        ArtifactKind kind = guard.isPresent() ? ArtifactKind.HEADER : ArtifactKind.SOURCE;
        return CGenerator.artifact(kind, name, CFilePrinter.print(this));
    }
}
