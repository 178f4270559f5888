// SPDX-License-Identifier: Apache-2.0
/** Toolchains of {@code toolchains.xml}. */
package io.kiln.maven.toolchain;
