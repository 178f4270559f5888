// SPDX-License-Identifier: Apache-2.0
/** The build's page as a report of a project's site. */
package io.kiln.maven.site;
