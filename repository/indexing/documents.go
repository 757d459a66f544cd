package indexing

import (
	"context"
	"errors"
	"strings"
	"time"

	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/internal/conformance"
	"labshelf/repository/internal/rows"
	"labshelf/search"
)

// Documents builds documents from the rows of a transaction.
type Documents struct {
	tx      *metadata.Tx
	names   map[metadata.ID]string // usernames by id
	finder  *conformance.Finder
	schemas *conformance.Schemas
	spent   *time.Duration // on validation
}

// NewDocuments returns Documents for a transaction. If schemas is nil, no document is marked as
// incomplete.
func NewDocuments(tx *metadata.Tx, schemas *conformance.Schemas) Documents {
	return Documents{tx: tx, names: map[metadata.ID]string{}, finder: conformance.NewFinder(tx), schemas: schemas, spent: new(time.Duration)}
}

// prefetch fetches the rows that the documents of these objects need.
func (m Documents) prefetch(of []object) {
	m.tx.Prefetch(func() {
		for _, o := range of {
			if o.put == nil || o.State != metadata.Active {
				continue
			}
			var described string
			_, _ = m.tx.Users.Get(o.CreatedBy)
			_ = rows.Described(m.tx, o.ID, &described)
			_, _ = rows.Collect(m.tx.Schemas.OfDataspace(o.dataspace, paging.Active), 1)
		}
	})
}

// Dataspace returns the document of a dataspace.
func (m Documents) Dataspace(d metadata.Dataspace) (search.Document, error) {
	return m.complete(search.Document{
		ID: d.ID, Kind: search.Dataspace, Dataspace: d.ID, Name: d.Name, Title: d.Title, Description: d.Description,
	}, d.Record, conformance.Object{})
}

// Set returns the document of a set.
func (m Documents) Set(s metadata.Set) (search.Document, error) {
	return m.complete(search.Document{
		ID: s.ID, Kind: search.Set, Dataspace: s.DataspaceID, Set: s.ID, Name: s.Name, Title: s.Title, Description: s.Description,
	}, s.Record, conformance.OfSet(s))
}

// Resource returns the document of a resource, without the text of its file.
func (m Documents) Resource(r metadata.Resource) (search.Document, error) {
	return m.complete(search.Document{
		ID: r.ID, Kind: search.Resource, Dataspace: r.DataspaceID, Set: r.SetID, Size: r.Bytes,
		Name: r.Name, Description: r.Description, Format: r.Format, MediaType: r.MimeType,
	}, r.Record, conformance.OfResource(r))
}

// complete adds the fields that all objects have, if the object is active. For other objects, only
// the id is needed.
func (m Documents) complete(d search.Document, r metadata.Record, o conformance.Object) (search.Document, error) {
	if r.State != metadata.Active {
		return d, nil
	}
	d.Stamp, d.Created = uint64(r.Modified), uint64(r.Created)
	d.Year = r.Created.Time().Year()
	var err error
	if d.Uploader, err = m.username(r.CreatedBy); err != nil {
		return d, err
	}
	err = m.describe(&d, o)
	return d, err
}

// username returns the name of a user, or the id if the user does not exist.
func (m Documents) username(id metadata.ID) (string, error) {
	if name, ok := m.names[id]; ok {
		return name, nil
	}
	u, err := m.tx.Users.Get(id)
	switch {
	case errors.Is(err, metadata.ErrNotFound):
		u.Username = id.String()
	case err != nil:
		return "", err
	}
	m.names[id] = u.Username
	return u.Username, nil
}

// describe adds the descriptive metadata of an object to its document, and whether they are
// incomplete.
func (m Documents) describe(d *search.Document, o conformance.Object) error {
	var stored string
	if err := rows.Described(m.tx, d.ID, &stored); err != nil {
		return err
	}
	said, err := rows.ParseDescriptive(stored)
	if err != nil {
		return err
	}
	if d.Incomplete, err = m.incomplete(o, said); err != nil || stored == "" {
		return err
	}
	d.Tags, d.Keywords = said.Tags, said.Keywords
	if said.PublicationYear != 0 {
		d.Year = said.PublicationYear
	}
	for _, c := range said.Creators {
		d.Creators = append(d.Creators, strings.TrimSpace(c.Name+" "+c.ORCID))
	}
	for path, value := range said.Properties.Leaves() {
		d.Properties = append(d.Properties, property(path, value))
	}
	return nil
}

// incomplete reports whether the properties of an object do not conform to the schema that applies
// to it.
func (m Documents) incomplete(o conformance.Object, said descriptive.Metadata) (bool, error) {
	if m.schemas == nil || o.For == 0 {
		return false, nil
	}
	check, found, err := m.finder.Check(o, said)
	if err != nil || !found {
		return false, err
	}
	began := time.Now()
	problems := m.schemas.Problems(context.Background(), check) // it has its own time limit
	*m.spent += time.Since(began)
	return len(problems) > 0, nil
}

// kinds maps the forms of values to kinds of properties.
var kinds = map[descriptive.Form]search.PropertyKind{
	descriptive.Text: search.Text, descriptive.Decimal: search.Number, descriptive.Truth: search.Bool,
	descriptive.Time: search.Date, descriptive.Quantity: search.Quantity,
}

func property(path string, v descriptive.Value) search.Property {
	p := search.Property{Path: path, Kind: kinds[v.Form()], Text: v.Text(), Number: v.Float(), Unit: v.Unit()}
	switch p.Kind {
	case search.Date:
		p.Number = float64(v.Time().UnixMicro())
	case search.Quantity:
		p.Text += " " + p.Unit
	}
	return p
}
