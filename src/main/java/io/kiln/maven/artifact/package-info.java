// SPDX-License-Identifier: Apache-2.0
/** Maven's artifacts, uploads and reactor modules with boards. */
package io.kiln.maven.artifact;
