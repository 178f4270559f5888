// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.bom;

import java.util.Locale;

/**
 * A part of an image.
 *
 * @param kind what it is
 * @param version its version; empty if it has none
 * @param sha256 digest of the file that it is, in hexadecimal digits; empty if it is several files
 * @param description where it comes from, one sentence
 */
public record ImageComponent(
        Kind kind, String name, String version, Licence licence, String sha256, String description) {
    /** Kinds of components, named as in CycloneDX. */
    public enum Kind {
        APPLICATION,
        LIBRARY,
        MACHINE_LEARNING_MODEL;

        String text() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * A licence.
     *
     * @param expression an expression of SPDX; empty if the licence has none
     * @param name its name for people; empty if it is unknown or the expression says it
     */
    public record Licence(String expression, String name) {
        public static final Licence UNKNOWN = new Licence("", "");

        /** The licence of Kiln's runtime and boards. */
        public static final Licence APACHE = spdx("Apache-2.0");

        /** A licence that SPDX knows. */
        public static Licence spdx(String expression) {
            return new Licence(expression, "");
        }

        /** One or several licences that only a text describes. */
        public static Licence named(String name) {
            return new Licence("", name);
        }

        /** The licence as text for the notice. */
        public String text() {
            return expression.isEmpty() ? name.isEmpty() ? "unknown" : name : expression;
        }
    }

    /** The id of the component in a bill of materials; unique if no two components have one name and version. */
    String reference() {
        return version.isEmpty() ? name : name + "@" + version;
    }
}
