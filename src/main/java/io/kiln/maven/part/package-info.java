// SPDX-License-Identifier: Apache-2.0
/** Goals of packagings that other builds use a part of: board profiles, models. */
package io.kiln.maven.part;
