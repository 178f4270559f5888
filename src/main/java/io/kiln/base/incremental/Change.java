// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.incremental;

import java.util.Optional;

/**
 * A difference between what a result was made from, or was, and what is there now.
 *
 * @param name of the input or output
 * @param before its value then: a setting, or the digest of a file; empty if it is new
 * @param now its value now; empty if it is gone
 */
public record Change(String name, Optional<String> before, Optional<String> now) {}
