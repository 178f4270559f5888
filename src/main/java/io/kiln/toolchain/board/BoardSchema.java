// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.networknt.schema.Error;
import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import com.networknt.schema.path.NodePath;
import io.kiln.base.Problems;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Holds descriptors against {@code toolchains/schemas/board.schema.json}. */
final class BoardSchema {
    private final Schema schema;

    BoardSchema() {
        try (InputStream in = BoardSchema.class.getResourceAsStream("/toolchains/schemas/board.schema.json")) {
            schema = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                    .getSchema(in, InputFormat.JSON);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Adds every violation with its line. */
    void check(YamlDocument document, Problems problems) {
        for (Error error : schema.validate(document.root())) {
            String pointer = pointer(error.getInstanceLocation());
            if (error.getProperty() != null && "additionalProperties".equals(error.getKeyword())) {
                problems.add(
                        "unknown key \"" + error.getProperty() + "\"",
                        document.where(pointer + "/" + error.getProperty()),
                        "",
                        "Remove it or see board.schema.json for the keys there are");
            } else {
                String label = pointer.isEmpty() ? "" : pointer.substring(1).replace('/', '.') + ": ";
                problems.add(label + error.getMessage(), document.where(pointer), "", "");
            }
        }
    }

    private static String pointer(NodePath path) {
        StringBuilder pointer = new StringBuilder();
        for (int i = 0; i < path.getNameCount(); i++) {
            pointer.append('/').append(path.getElement(i));
        }
        return pointer.toString();
    }
}
