// SPDX-License-Identifier: Apache-2.0
/** Parameters that belong together, each described once: what goals read of them, what users may set, and what {@code kiln:help} says about them. */
package io.kiln.maven.group;
