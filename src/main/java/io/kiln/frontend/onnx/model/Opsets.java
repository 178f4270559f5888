// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.model;

import java.util.Map;
import java.util.Optional;

/**
 * Versions of operator sets.
 *
 * @param versions by domain; ONNX's own domain is empty
 */
public record Opsets(Map<String, Integer> versions) {
    /** The other name of ONNX's own domain. */
    public static final String LONG_NAME = "ai.onnx";

    public Opsets {
        versions = Map.copyOf(versions);
    }

    /** The version of a domain, if the model imports it. */
    public Optional<Integer> version(String domain) {
        return Optional.ofNullable(versions.get(domain));
    }

    /** A domain's name in one form: empty for ONNX's own. */
    public static String domain(String name) {
        return name.equals(LONG_NAME) ? "" : name;
    }
}
