// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.Artifact.Loader;
import io.kiln.codegen.Origin;
import java.util.List;
import java.util.Optional;

/**
 * A C file as data: a header, or the source of its functions.
 *
 * @param origin for the comment at its head
 * @param name file name
 * @param guard the macro that keeps a header from being read twice; empty for a source
 * @param includes with their quotes or brackets
 * @param items in order
 */
public record CFile(Origin origin, String name, Optional<String> guard, List<String> includes, List<CItem> items) {
    public CFile {
        includes = List.copyOf(includes);
        items = List.copyOf(items);
    }

    /** The file, printed. */
    public Artifact artifact() {
        Loader loader = guard.isPresent() ? Loader.HEADER : Loader.SOURCE;
        return CGenerator.artifact(origin, loader, name, CFilePrinter.print(this));
    }
}
