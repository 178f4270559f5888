// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.bom;

import java.util.List;

/** The notice that goes with an image: its parts with their licences, as text. */
public final class Notice {
    private Notice() {}

    /**
     * Prints the notice of an image.
     *
     * @param image name of the image
     */
    public static String of(String image, List<ImageComponent> parts) {
        StringBuilder out = new StringBuilder(image).append(" contains:\n");
        for (ImageComponent part : parts) {
            out.append('\n').append(part.name());
            if (!part.version().isEmpty()) {
                out.append(' ').append(part.version());
            }
            out.append("\n  licence: ").append(part.licence().text()).append('\n');
            if (!part.description().isEmpty()) {
                out.append("  ").append(part.description()).append('\n');
            }
        }
        return out.append("\nLicences by their SPDX identifiers have their texts at https://spdx.org/licenses.\n")
                .toString();
    }
}
