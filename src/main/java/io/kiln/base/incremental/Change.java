// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.incremental;

import java.util.Optional;

/**
 * A changed input or output of a result.
 *
 * @param name name of the input or output
 * @param before its earlier value: a setting, or the digest of a file; empty if it is new
 * @param now its current value; empty if it no longer exists
 */
public record Change(String name, Optional<String> before, Optional<String> now) {}
